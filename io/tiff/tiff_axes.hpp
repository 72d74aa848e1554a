// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/tiff/tiff_handle.hpp"
#include "io/tiff/tiff_pages.hpp"

#include <optional>
#include <string>

namespace runner {

/// Distances between pixels, as the tags of a page say; nothing where they do not.
struct Resolution {
    std::optional<double> x = {};
    std::optional<double> y = {};
    std::string unit = {}; ///< "cm", "inch", or empty: ImageJ says it elsewhere
};

/// The resolution of the page that the handle is at.
Resolution resolution_of(const TiffHandle& tiff);

/// Sets `leading` and `axes` by the description of the first page: OME-XML, ImageJ's, or the shape
/// that tifffile writes. Where it does not fit the pages, the axes y and x alone are named.
/// `labels`: those of ImageJ's planes. All pages are listed by now.
void find_axes(const std::string& description, const Resolution& resolution,
               const std::vector<std::string>& labels, TiffPages& pages);

} // namespace runner
