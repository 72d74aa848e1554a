// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/axes.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace runner {

/// What an open HDF5 file says of the axes of a dataset of this shape: all of it where this program
/// wrote its `placement`; else names by `axes` and `NAME_indices` of its NXdata group, else by the
/// dataset's DIMENSION_LABELS or `axes`; spacings by `element_size_um`, `voxel_size` and their
/// like, which have a number for each axis or for the last ones; units of NXdata's coordinates, and
/// spacings where they are evenly apart. The last axis is "s" where `channels`, as in DatasetInfo,
/// is more than 1; where it is known, rows and columns are "y" and "x".
Axes axis_marks(const FileHandle& file, const DatasetHandle& dataset, const std::string& path,
                std::span<const std::int64_t> shape, std::optional<int> channels);

} // namespace runner
