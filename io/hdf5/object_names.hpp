// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace runner {

/// What object_names() lists at most. An output of this program has some 50 names.
inline constexpr std::size_t most_object_names = 1000;

/// The attribute of a finished output's root that lists, a line each, the names of all that this
/// program put into the file: what object_names() gave just before.
inline constexpr const char* objects_attribute = "objects";

/// The attribute of a finished output's root that holds a checksum of its record_facts().
inline constexpr const char* record_checksum_attribute = "record_checksum";

/// A name as a part of a line of `objects`.
std::string object_line(const std::string& name);

/// The names of all that is in an HDF5 file, in the order of the names: "/raw" for a group, a
/// dataset, a named type or a link (which is not followed), "/raw/image@units" for an attribute,
/// "/@kind" for one of the root. A backslash in a name is given as "\\" and a line break as "\n",
/// so that each is one line. The first `most_object_names` where there are more. Reads no values.
/// @throws Error (input).
std::vector<std::string> object_names(const std::string& file);

/// Stores the names of all that is in a finished output in its attribute `objects`, and those of
/// `to_come` ("/@name"), which are written after it. @throws Error (output).
void record_object_names(const std::string& file, const std::vector<std::string>& to_come = {});

} // namespace runner
