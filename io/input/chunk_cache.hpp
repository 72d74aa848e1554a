// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/rows.hpp"

#include <string>

namespace runner {

/// Whether all chunks that share a range of the first axis may be kept in memory unpacked.
bool fits_cache(const DatasetInfo& info);

/// Opens a dataset with HDF5's cache of unpacked chunks large enough to read rows in order without
/// unpacking a chunk twice, where fits_cache().
/// An invalid handle where HDF5 cannot.
DatasetHandle open_dataset_cached(const FileHandle& handle, const std::string& dataset,
                                  const DatasetInfo& info);

} // namespace runner
