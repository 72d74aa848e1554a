// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/png.hpp"
#include "runner/thumbnail.hpp"

#include <cstdint>
#include <span>

namespace runner {

/// Values shown as black and as white.
struct GreyRange {
    double black = 0;
    double white = 255;
};

/// From the 0.5 to the 99.5 percentile of all finite values of these pictures together; 0 to 255
/// where all are of bytes, or none is finite.
GreyRange range_of(std::span<const Thumbnail> pictures);

/// From black to white, what lies beyond cut; black where it is not finite, mid-grey where the
/// range is empty.
std::uint8_t shade(double value, const GreyRange& range);

/// The pixels of a thumbnail.
Picture shaded(const Thumbnail& thumbnail, const GreyRange& range);

} // namespace runner
