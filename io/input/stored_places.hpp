// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/unpacker.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/rows.hpp"

#include <string>
#include <vector>

namespace runner {

/// The layout of a finished, chunked output with a place of its own for each chunk of its grid.
/// @throws Error (output) where it is not stored as `output` says, or a chunk is missing, shares
/// bytes with another or lies beyond the file. Of a folder such chunks have no bytes (ChunkPlace).
DatasetLayout stored_places(FileAccess& files, const OutputDataset& output);

/// The layout of a finished output of another format than HDF5 whose elements are packed, chunk by
/// chunk as they were written, by the structure of its file alone. @throws Error (input).
DatasetLayout packed_layout(const OutputDataset& output);

/// The layouts of an image and of its coarser levels, in one finished file (has_levels_in_file()),
/// packed or not, by the structure of the file alone. @throws Error (input).
std::vector<DatasetLayout> layouts_in_file(const OutputDataset& output);

/// @throws Error (output): another program changed how the dataset of the output is stored.
[[noreturn]] void refuse_changed_storage(const OutputDataset& output, const std::string& dataset);

} // namespace runner
