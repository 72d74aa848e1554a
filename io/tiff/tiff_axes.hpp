// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/axes.hpp"
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

/// UIC2Tag, which has as many values as a stack of MetaMorph (STK) has planes.
inline constexpr std::uint16_t planes_of_stk = 33629;

/// What MetaMorph's tags say of the axes.
struct StkAxes {
    /// z where the planes are apart, t where they were made one after the other; else without name.
    Axis planes;
    Axis y;
    Axis x;
};

/// The axes of the page that the handle is at; nothing where it is no STK.
std::optional<StkAxes> stk_axes(const TiffHandle& tiff);

/// What the first page says of all.
struct PagesDescription {
    std::string text = {};
    std::int64_t image = -1;         ///< the pages' image by its number in an OME-XML; -1: of none
    std::optional<StkAxes> stk = {}; ///< by MetaMorph's tags
};

/// Sets `leading` and `axes` by the description: OME-XML, ImageJ's, the shape that tifffile
/// writes, or MetaMorph's tags. Where it does not fit the pages, the axes y and x alone are named.
/// Without a description a resolution in centimetres is the spacing. `labels`: those of ImageJ's
/// planes. All pages are listed by now.
void find_axes(const PagesDescription& description, const Resolution& resolution,
               const std::vector<std::string>& labels, TiffPages& pages);

} // namespace runner
