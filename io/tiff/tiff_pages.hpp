// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/rows.hpp"
#include "io/tiff/tiff_handle.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// What the pages of a TIFF file have in common, and where each begins.
struct TiffPages {
    ElementType type = ElementType::uint8;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t depth = 1;             ///< slices of a page, which is a volume then (ImageDepth)
    int samples = 1;                    ///< of a pixel, together: 1, or 3 for colour
    std::vector<std::uint64_t> offsets; ///< of each page's directory in the file
    /// More pages than directories, as ImageJ writes large stacks: all follow the first's elements.
    std::int64_t hidden_pages = 0;
    std::string storage; ///< "strips", "tiles"
    std::string compression;
    std::vector<std::string> notes;

    std::int64_t pages() const { return std::ssize(offsets) + hidden_pages; }
    /// [pages, depth, height, width], without `pages` and `depth` where they are 1, with the
    /// samples of colour last.
    ArrayInfo array() const;
};

/// Goes through all pages. Reduced ones (thumbnails, parts of pyramids) are left out.
/// @throws Error (input) when one is damaged, of a type that cannot be read, or unlike the first.
TiffPages list_tiff_pages(TiffHandle& tiff);

/// What is known of the dataset that the pages are; the handle is at one of them. Without a place.
DatasetInfo tiff_info(const TiffHandle& tiff, const TiffPages& pages);

} // namespace runner
