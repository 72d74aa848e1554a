// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"

#include <string>
#include <vector>

namespace runner {

/// What an open HDF5 file says of a dataset's elements that are no values, as DatasetInfo::invalid:
/// the attributes `_FillValue` and `missing_value` of netCDF, and the dataset `pixel_mask` of
/// NeXus, beside the dataset or in the detector of a group that it is in. No link of these names
/// is followed. `path`: the dataset's, in the file.
std::vector<std::string> invalid_marks(const FileHandle& file, const DatasetHandle& dataset,
                                       const std::string& path);

} // namespace runner
