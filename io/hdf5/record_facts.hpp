// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace runner {

/// All that this program put into a finished output beside its rows, as bytes that a checksum is
/// taken of: of each name in the attribute `objects` whether it is a group, a dataset or a link,
/// types, shapes and values. What others have added is no part of it, nor how the elements are
/// stored. `elsewhere`: paths of datasets whose elements have checksums of their own; of these only
/// the elements are left out. A message (io/files/message.hpp) of two texts: the attribute
/// record_checksum of the group `/runner` ("" for none), and these bytes. Opens every object and
/// reads every attribute that is listed.
/// @throws Error (input), naming the object.
std::string record_facts(const std::string& file, const std::vector<std::string>& elsewhere);

/// Stores a finished output's checksum of its record in the root's attribute record_checksum, and
/// where it is ("/@record_checksum") in that of the group `/runner`: the same in each run, it tells
/// that the root had one where damage has taken that away. @throws Error (output).
void write_seal(const std::string& file, const std::string& checksum);

/// The names of both attributes, as `objects` lists them.
std::vector<std::string> seal_names();

} // namespace runner
