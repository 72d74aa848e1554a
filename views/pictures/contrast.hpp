// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/formats/png_writer.hpp"
#include "views/pictures/thumbnail.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace runner {

/// Values shown as black and as white.
struct GreyRange {
    double black = 0;
    double white = 255;
};

/// Shares of the values that lie below black and below white, 0 to 1.
struct Percentiles {
    double black = 0.005;
    double white = 0.995;

    bool operator==(const Percentiles&) const = default;
};

/// Between these percentiles of all finite values of the pictures together, nearest in rank; 0 to
/// 255 where none is finite. Without `asked`: the default ones, but 0 to 255 where all are of
/// bytes.
GreyRange range_of(std::span<const Thumbnail> pictures,
                   const std::optional<Percentiles>& asked = std::nullopt);

/// From black to white, what lies beyond cut; black where it is not finite, mid-grey where the
/// range is empty.
std::uint8_t shade(double value, const GreyRange& range);

/// The pixels of a thumbnail.
Picture shaded(const Thumbnail& thumbnail, const GreyRange& range);

/// `b` less `a`, of one size and number of channels, value by value.
Thumbnail difference_of(const Thumbnail& a, const Thumbnail& b);

/// The largest size of a finite value; 0 where there is none.
double largest_size(const Thumbnail& thumbnail);

/// Blue at -most, white at 0, red at most, what lies beyond cut; black where it is not finite. Of
/// several channels the one of the largest size is shown.
Picture shaded_difference(const Thumbnail& difference, double most);

} // namespace runner
