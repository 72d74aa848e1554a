// SPDX-License-Identifier: BSD-3-Clause
#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/tiff/tiff_file.hpp"
#include "io/tiff/tiff_image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace runner {
namespace {

/// The factor from which on an axis of so many elements is one.
std::int64_t power_above(std::int64_t extent) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(extent)));
}

} // namespace

std::vector<CoarserLevel> tiff_levels(const OutputDataset& output) {
    constexpr std::int64_t short_image = 256;      // of y and x, where levels end
    constexpr std::int64_t most_block_bytes = GiB; // which a thread holds
    const TiffImage image = tiff_image(output);
    const bool colour = image.samples > 1;
    const std::size_t y = output.array.shape.size() - (colour ? 3 : 2);
    std::vector<CoarserLevel> levels;
    std::int64_t height = image.height;
    std::int64_t width = image.width;
    for (std::int64_t factor = 2; std::max(height, width) > short_image; factor *= 2) {
        const std::int64_t down = std::min(factor, power_above(image.height));
        const std::int64_t across = std::min(factor, power_above(image.width));
        if (down > most_block_bytes / across / image.samples / image.sample_bytes()) {
            break;
        }
        height = ceil_divide(image.height, down);
        width = ceil_divide(image.width, across);
        CoarserLevel level{output};
        OutputDataset& dataset = level.dataset;
        dataset.layout.pyramid.level = std::ssize(levels) + 1;
        dataset.layout.pyramid.levels = 1; // it has none of its own
        dataset.layout.channels = static_cast<int>(image.samples);
        dataset.array.shape[y] = height;
        dataset.array.shape[y + 1] = width;
        level.factors = colour ? std::array{down, across, std::int64_t{1}}
                               : std::array{std::int64_t{1}, down, across};
        levels.push_back(std::move(level));
    }
    return levels;
}

} // namespace runner
