// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/file_content.hpp"
#include "io/rows/rows.hpp"

#include <string>
#include <vector>

namespace runner {

class FileAccess;

/// The attribute of a finished HDF5 output that holds digest_of_rows() of its list.
inline constexpr const char* row_hashes_checksum_attribute = "row_hashes_checksum";

/// The datasets of an output that is one or several.
std::vector<std::string> datasets_of(const OutputDataset& output);

/// Stores the names of all that is in a finished HDF5 output, and a checksum of all that it says
/// beside its rows: types, shapes, attributes, coordinates. Nothing may be added to it as the
/// program's own after that. @throws Error (output).
/// `datasets`: those whose rows have checksums.
void seal_record(const std::string& file, const std::vector<std::string>& datasets);
void seal_record(const OutputDataset& output);

/// How the record of a finished HDF5 output differs from what seal_record() has stored; "" where it
/// does not, and for outputs of earlier versions, which have no such checksum. What others have
/// added is no damage. `record`: the attributes of the root; `datasets`: those of the rows.
/// @throws Error (input) where an object that is listed does not open.
std::string record_damage(FileAccess& files, const std::string& file, const AttributeList& record,
                          const std::vector<std::string>& datasets);

} // namespace runner
