// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5_handle.hpp"
#include "io/rows.hpp"

#include <string>

namespace runner {

/// Opens a dataset with HDF5's cache of unpacked chunks as large as reader_bytes() says.
/// An invalid handle where HDF5 cannot.
DatasetHandle open_dataset_cached(const FileHandle& handle, const std::string& dataset,
                                  const DatasetInfo& info);

} // namespace runner
