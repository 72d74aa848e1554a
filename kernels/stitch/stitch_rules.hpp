// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/ordered_key.hpp"
#include "kernels/stitch/stitch.hpp"

#include <cstdint>
#include <limits>

namespace runner {

/// What host and device compute alike. All is constexpr, so that device code can call it too.

/// The weight of pixel `i` among the `count` of an overlap, counted in its own line: as
/// numpy.linspace() makes it from 0 on, to 1, or from 1 on, to 0. One pixel alone has a half.
constexpr double overlap_weight(std::int64_t i, std::int64_t count, bool rises) {
    if (count == 1) {
        return 0.5;
    }
    if (i + 1 == count) {
        return rises ? 1 : 0;
    }
    const double step = (rises ? 1.0 : -1.0) / static_cast<double>(count - 1);
    return static_cast<double>(i) * step + (rises ? 0 : 1);
}

/// Two elements with their weights; every NaN is the quiet one.
constexpr double weighted_sum(double weight, double first, double other_weight, double second) {
    const double sum = weight * first + other_weight * second;
    return is_nan(sum) ? std::numeric_limits<double>::quiet_NaN() : sum;
}

/// Which pixels of the two lines pixel `at` of the output has.
struct StitchedPixel {
    std::int64_t first = -1;  ///< of the first line; below 0: none
    std::int64_t second = -1; ///< of the second; below 0: none

    static constexpr StitchedPixel of(std::int64_t at, std::int64_t columns, std::int64_t overlap,
                                      bool is_left) {
        const std::int64_t before = columns - overlap; // those of one line alone
        const std::int64_t first = is_left ? at - before : at;
        const std::int64_t second = is_left ? columns - 1 - at : columns + before - 1 - at;
        return {first < columns ? first : -1, second < columns ? second : -1};
    }
    constexpr bool has_both() const { return first >= 0 && second >= 0; }
};

/// How the pixels of the overlap are made.
struct StitchBlend {
    std::int64_t columns;
    std::int64_t overlap;
    bool is_left;
    bool is_linear;

    static constexpr StitchBlend of(const Stitch& stitch) {
        return {stitch.columns, stitch.overlap, stitch.side == Stitch::Side::left,
                stitch.blend == Stitch::Blend::linear};
    }

    /// The number of a line's pixel among those of the overlap.
    constexpr std::int64_t in_overlap(std::int64_t pixel) const {
        return is_left ? pixel : pixel - (columns - overlap);
    }
    /// Without a blend, whether the first line's pixel is taken.
    constexpr bool takes_first(std::int64_t pixel) const {
        const std::int64_t i = in_overlap(pixel);
        return is_left ? i >= overlap / 2 : i < overlap - overlap / 2;
    }
    constexpr double sum(const StitchedPixel& at, double first, double second) const {
        return weighted_sum(overlap_weight(in_overlap(at.first), overlap, is_left), first,
                            overlap_weight(in_overlap(at.second), overlap, is_left), second);
    }
};

} // namespace runner
