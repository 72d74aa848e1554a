// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/rows.hpp"

#include <string>
#include <vector>

namespace runner {

/// Whether there is an object of this path, which no link but hard ones leads to.
bool is_own_object(const FileHandle& file, const std::string& path);

/// The names of the objects in a group that no link but hard ones leads to; of very many the first
/// ones.
std::vector<std::string> names_in_group(const FileHandle& file, const std::string& group);

/// Finds what an open HDF5 file says of a dataset's elements that are no values, for
/// DatasetInfo::invalid, invalid_value and masks: the attributes `_FillValue` and `missing_value`
/// of netCDF, of which the first is the value, and NeXus' `pixel_mask` and `pixel_mask_1` to
/// `pixel_mask_16`, beside the dataset or in the detector of a group that it is in. No link to them
/// is followed. netCDF's `valid_range`, `valid_min` and `valid_max` are texts alone.
/// `path`: the dataset's, in the file.
void find_invalid_marks(const FileHandle& file, const DatasetHandle& dataset,
                        const std::string& path, DatasetInfo& info);

} // namespace runner
