// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/tiff/tiff_handle.hpp"
#include "io/tiff/tiff_pages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Distances between pixels, as the tags of a page say; nothing where they do not.
struct Resolution {
    std::optional<double> x = {};
    std::optional<double> y = {};
    std::string unit = {}; ///< "cm", "inch", or empty: ImageJ says it elsewhere
};

/// The resolution of the page that the handle is at.
Resolution resolution_of(const TiffHandle& tiff);

/// The description of the first page.
struct PagesDescription {
    std::string text = {};
    std::int64_t image = -1; ///< the pages' image by its number in an OME-XML; -1: of none
};

/// Sets `leading` and `axes` by the description: OME-XML, ImageJ's, or the shape that tifffile
/// writes. Where it does not fit the pages, the axes y and x alone are named. `labels`: those of
/// ImageJ's planes. All pages are listed by now.
void find_axes(const PagesDescription& description, const Resolution& resolution,
               const std::vector<std::string>& labels, TiffPages& pages);

} // namespace runner
