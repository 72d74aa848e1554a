// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The files of an output in parts, in OUT.parts. The parts of the output under way are of one set
/// of names, those of the finished output that it replaces of the other.

/// The names of the parts in the folder, whole paths, of one set or of both, and of the files that
/// exist while a part is being restored. None without a folder. @throws Error (output) for a link
/// or a file of the folder's name, for what no part is called, and for a part that is a link, has
/// several names or is no regular file.
std::vector<std::string> part_files(const std::string& folder, std::optional<int> set = {});

/// Makes the folder where there is none. @throws Error (output), also where it is another user's.
void make_parts_folder(const std::string& folder);

/// Removes the parts of one set, or of both, and the folder when it is empty then. Nothing without
/// a folder. The same errors as part_files().
void remove_parts(const std::string& folder, std::optional<int> set = {});

/// The sizes of the parts, for the record. @throws Error (output).
PartsRecord record_of_parts(const OutputDataset& output);

/// Brings the parts and their names to the disk. Nothing for an output of one file.
void sync_parts(const OutputDataset& output);

/// Makes the dataset that `creation` is for a virtual one over the output's parts, which it names
/// from the output's folder on: output and parts may be moved together. @throws Error (output).
void map_parts(const PropertyHandle& creation, const OutputDataset& output);

} // namespace runner
