// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/written_format.hpp"

#include <vector>

namespace runner {

/// The coarser levels of an image of OME-Zarr, as its layout's Pyramid asks for (FolderOfChunks).
/// Axes of time and channels keep their extents. A level has ceil(extent / factor) elements along
/// an axis, and its chunks and shards have the image's extents, cut to its own. There are fewer
/// levels than asked for where the image has one element along each axis of space before.
/// @throws Error (usage) where a block of the last level is too large.
std::vector<CoarserLevel> ome_levels(const OutputDataset& output);

/// @throws Error (usage) as check_ome_order(), and for a spacing that is no number in a level.
void check_ome_axes(const OutputDataset& output);

} // namespace runner
