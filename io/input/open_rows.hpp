// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace runner {

/// `threads` ≥ 1: how many read at once where plain reads at a position do. The file stays open as
/// a plain descriptor, or within HDF5 for a dataset without an offset.
std::unique_ptr<RowReader> open_rows(const std::string& file, const std::string& dataset,
                                     int threads);

/// Reads any dataset of an HDF5 file through HDF5, in this process, which may be lost over it.
/// @throws Error (input).
std::unique_ptr<RowReader> open_rows_by_hdf5(const std::string& file, const std::string& dataset,
                                             const DatasetInfo& info);

/// The same for any file, through the library of its format.
std::unique_ptr<RowReader> open_rows_by_library(const DatasetLayout& layout);

/// Memory that a reader of this dataset with so many threads takes beside the caller's, at most:
/// unpacked chunks.
std::int64_t reader_bytes(const DatasetInfo& info, int threads);

} // namespace runner
