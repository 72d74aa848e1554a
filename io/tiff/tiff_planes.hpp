// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/tiff/ome_planes.hpp"
#include "io/tiff/tiff_handle.hpp"
#include "io/tiff/tiff_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// How many planes, each as large as a page, the page that the handle is at says that the dataset
/// has: by ImageJ's description, by the shape that tifffile writes, or by MetaMorph's tags (STK).
/// 0 where it does not say.
std::int64_t named_planes(const TiffHandle& tiff, const TiffPages& page);

/// The ImageDescription of the page that the handle is at; "" where it has none.
std::string description_of(const TiffHandle& tiff);

/// The labels that ImageJ gives the planes of the page that the handle is at, of all of them;
/// behind the first most_imagej_labels they are empty. None where it has none.
std::vector<std::string> imagej_labels(const TiffHandle& tiff);

/// What else ImageJ stores with that page and DatasetInfo has no place for.
std::vector<std::string> imagej_unkept(const TiffHandle& tiff);

inline constexpr std::size_t most_imagej_labels = 64;

/// What the OME-XML of the page that the handle is at, the first, says of planes: ome_planes() of
/// a chain of any length.
std::optional<OmePlanes> ome_planes_of(const TiffHandle& tiff);

/// Puts the pages into the order that an OME-XML says; leaves them as they are where there is none.
/// Planes in other files are named in `elsewhere`.
/// @throws Error (input), which has both numbers, where a plane is in none.
void order_by_ome(const TiffHandle& tiff, TiffPages& pages, const std::optional<OmePlanes>& ome);

/// Finds the planes that have no directory of their own behind those of the pages that have one,
/// and sets `hidden_pages` and `first_plane`: all lie dense from the first page's elements on,
/// without packing. `named` is more than the pages are. The handle goes to another page.
/// @throws Error (input), which has both numbers, where not every plane is found.
void find_hidden_planes(TiffHandle& tiff, TiffPages& pages, std::int64_t named);

} // namespace runner
