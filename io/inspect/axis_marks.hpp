// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/axes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// What an open HDF5 file says of the axes of a dataset of this shape: all of it where this program
/// wrote its `placement`; else names by `axes` and `NAME_indices` of its NXdata group, else by the
/// dataset's DIMENSION_LABELS, `axes` or dimension scales; spacings by `element_size_um`,
/// `voxel_size` and their like, which have a number for each axis or for the last ones; units of
/// NXdata's coordinates and of dimension scales, and spacings where they are evenly apart. The last
/// axis is "s" where `channels`, as in DatasetInfo, is more than 1; where it is known, rows and
/// columns are "y" and "x".
Axes axis_marks(const FileHandle& file, const DatasetHandle& dataset, const std::string& path,
                std::span<const std::int64_t> shape, std::optional<int> channels);

/// Gives an axis of that extent the unit, spacing and origin that its coordinates say: numbers of
/// one axis, evenly apart and rising, packed by netCDF's `scale_factor` and `add_offset` or not.
/// What they do not say stays as it is. `path`: where the coordinates are in `file`, which must be
/// safe to read.
void place_axis(Axis& axis, std::int64_t extent, const FileHandle& file,
                const DatasetHandle& coordinates, const std::string& path);

/// An HDF5 dimension scale: what netCDF-4 and h5py attach to an axis, its name and mostly its
/// coordinates.
struct DimensionScale {
    std::string path;        ///< of its dataset; empty where the axis has none
    bool has_numbers = true; ///< false: of netCDF, which stores a dimension without a variable so

    /// The last part of its path.
    std::string name() const;
};

/// The first scale of each axis of a dataset of so many axes; empty where no axis has one. In a
/// process that may be lost.
std::vector<DimensionScale> dimension_scales(hid_t dataset, std::size_t axes);

} // namespace runner
