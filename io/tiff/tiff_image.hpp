// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// An array as the pages of a TIFF file that is written.
struct TiffImage {
    std::vector<std::int64_t> leading; ///< extents of the axes that count pages
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t samples = 1; ///< of a pixel, side by side
    ElementType type = ElementType::uint8;

    std::int64_t pages() const;
    std::int64_t sample_bytes() const;
    std::int64_t line_bytes() const;
    std::int64_t page_bytes() const { return height * line_bytes(); }
};

/// The last axis is the samples of colour where the layout says so, or where it says nothing, of
/// uint8 with 3 as the last of at least three extents.
/// @throws Error (usage) for elements that are no numbers, one axis, and sides beyond 2^32 - 1.
TiffImage tiff_image(const OutputDataset& output);

} // namespace runner
