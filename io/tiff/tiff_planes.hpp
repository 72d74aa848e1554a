// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/tiff/tiff_handle.hpp"
#include "io/tiff/tiff_pages.hpp"

#include <cstdint>

namespace runner {

/// How many planes, each as large as a page, the page that the handle is at says that the dataset
/// has: by ImageJ's description, by the shape that tifffile writes, or by MetaMorph's tags (STK).
/// 0 where it does not say.
std::int64_t named_planes(const TiffHandle& tiff, const TiffPages& page);

/// Finds the planes that have no directory of their own behind those of the pages that have one,
/// and sets `hidden_pages` and `first_plane`: all lie dense from the first page's elements on,
/// without packing. `named` is more than the pages are. The handle goes to another page.
/// @throws Error (input), which has both numbers, where not every plane is found.
void find_hidden_planes(TiffHandle& tiff, TiffPages& pages, std::int64_t named);

} // namespace runner
