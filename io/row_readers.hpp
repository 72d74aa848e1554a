// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"

#include <memory>
#include <string>

namespace runner {

/// A reader that takes stored chunks from HDF5 as they are and unpacks them on its threads; nothing
/// for a dataset that only HDF5 can read (other filters, other storage, types to convert, or so
/// many elements in a row of chunks that they are not to be kept).
std::unique_ptr<RowReader> open_chunk_reader(const std::string& file, const std::string& dataset,
                                             const DatasetInfo& info, int threads);

/// What inspect_dataset() and open_rows() say of a .sand file.
DatasetInfo inspect_sand(const std::string& file);
std::unique_ptr<RowReader> open_sand_reader(const std::string& file, int threads);

} // namespace runner
