// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What is written of an output's axes: their names in an array, and all else in a group of
/// OME-Zarr.

/// The names of an array's axes, an empty one where nothing names it; none where no axis has a
/// name, or two have the same.
std::vector<std::string> dimension_names(const OutputDataset& output);

/// @throws Error (usage) for an array that no image of OME-Zarr is: of other than two to five axes,
/// or with samples of colour.
void check_ome_array(const OutputDataset& output);

/// @throws Error (usage) for axes of which one would get the name of another, since OME-Zarr cannot
/// have them in their order: a viewer would show z as channels.
void check_ome_order(const OutputDataset& output);

/// The names of an image's axes. Those that OME-Zarr cannot have in their order are tczyx, from the
/// last on.
std::vector<std::string> ome_axis_names(const OutputDataset& output);

/// The same with their spacings and units, as they are written: those that OME-Zarr has no name for
/// are left out.
Axes ome_image_axes(const OutputDataset& output);

/// Whether OME-Zarr takes an axis of this name for one of space.
bool is_space(std::string_view name);

/// FolderOfChunks::channels: those along the axis c, or the image is one; nothing of more than
/// 1024.
std::optional<Channels> ome_channels(const OutputDataset& output);

/// The zarr.json of a group with an image, whose levels are the arrays 0, 1 and so on. `omero` has
/// OutputDataset::extremes, where they are known.
std::string ome_group_text(const OutputDataset& output);

/// The .zattrs of the same of OME-Zarr 0.4.
std::string ome_attributes_text(const OutputDataset& output);

/// What the array alone, or the group, does not say of the axes.
std::vector<std::string> left_out_of_array(const OutputDataset& output);
std::vector<std::string> left_out_of_ome(const OutputDataset& output);

} // namespace runner
