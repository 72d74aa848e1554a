// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// How an image continues beyond its border; names and meaning as in scipy.ndimage.
enum class Boundary {
    constant, ///< k k k | a b c d | k k k
    nearest,  ///< a a a | a b c d | d d d
    reflect,  ///< c b a | a b c d | d c b
    mirror,   ///< d c b | a b c d | c b a
    wrap,     ///< b c d | a b c d | a b c
};

/// The index in [0, extent) that extended index `i` stands for; −1 where the fill value does
/// (`constant` beyond the border). extent ≥ 1; any i, however far outside.
/// constexpr, so that device code can call it too (nvcc --expt-relaxed-constexpr).
constexpr std::int64_t map_index(std::int64_t i, std::int64_t extent, Boundary boundary) {
    if (i >= 0 && i < extent) {
        return i;
    }
    if (boundary == Boundary::constant) {
        return -1;
    }
    if (boundary == Boundary::nearest) {
        return i < 0 ? 0 : extent - 1;
    }
    const std::int64_t period = boundary == Boundary::wrap      ? extent
                                : boundary == Boundary::reflect ? 2 * extent
                                : extent == 1                   ? 1
                                                                : 2 * extent - 2;
    std::int64_t phase = i % period;
    phase += phase < 0 ? period : 0;
    if (phase < extent) {
        return phase;
    }
    return boundary == Boundary::reflect ? period - 1 - phase : period - phase;
}

} // namespace runner
