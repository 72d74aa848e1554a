// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/stripes/stripes_lines.hpp"

#include <cstdint>
#include <limits>

namespace runner {

/// Sums are of so many parts: part i has the terms i, i + sum_parts, … in this order. Then the
/// parts of the upper half are added to those of the lower one, until one is left.
inline constexpr int sum_parts = 256;

/// Between which factors a column is no stripe; see docs/stripes.md.
struct StripeLimits {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool has_low = false;

    constexpr bool is_outside(double factor) const {
        return factor > high || (has_low && factor <= low);
    }
};

/// The line through the middle half of the sorted factors of a frame.
struct FactorFit {
    std::int64_t first = 0; ///< of the middle half
    std::int64_t count = 0; ///< in it

    constexpr explicit FactorFit(std::int64_t columns)
        : first(columns / 4), count(columns - 2 * first - 1) {}

    /// The place of the middle half's factor `i` less that of its centre.
    constexpr double place(std::int64_t i) const {
        return static_cast<double>(i) - static_cast<double>(count - 1) / 2;
    }
    /// `sum`: of its factors; `moment`: of each times its place(). `least` and `greatest`: of all.
    constexpr StripeLimits limits(double sum, double moment, double least, double greatest,
                                  std::int64_t columns, double snr) const {
        constexpr double least_noise = 1e-5;
        StripeLimits limits;
        if (count < 2) {
            return limits;
        }
        const auto n = static_cast<double>(count);
        const double slope = moment / (n * (n * n - 1) / 12);
        const double start = sum / n - slope * (static_cast<double>(first) + (n - 1) / 2);
        const double end = start + slope * static_cast<double>(columns - 1);
        const double noise = end < start ? start - end : end - start;
        if (!(noise >= least_noise)) {
            return limits;
        }
        const double above = greatest < end ? end - greatest : greatest - end;
        const double below = start < least ? least - start : start - least;
        if (above / noise >= snr) {
            limits.high = end + noise * snr * 0.5;
        }
        if (below / noise >= snr) {
            limits.low = start - noise * snr * 0.5;
            limits.has_low = true;
        }
        return limits;
    }
};

/// What is found of frames whose lines are in `all`: everything in device memory. Of each column of
/// each frame there is a factor, a background of factors, an entry, and the nearest good columns.
struct StripeSearch {
    static constexpr int change_window = 10; ///< rows of the mean that a change is measured from

    StripeLines<double> all;
    double* factors = nullptr;
    double* backgrounds = nullptr;
    LongEntry* entries = nullptr;
    std::int32_t* left = nullptr; ///< −1: the column stays
    std::int32_t* right = nullptr;
    StripeLimits* limits = nullptr; ///< of each frame
    double snr = 0;

    /// Ranks at either end that means leave out: 5 %.
    constexpr std::int64_t dropped() const {
        return static_cast<std::int64_t>(0.05 * static_cast<double>(all.rows));
    }
    /// The factors of a frame as a line, to be sorted.
    StripeLines<double> factor_lines() const {
        return {factors, entries, nullptr, all.frames, all.columns, 1, 1};
    }
    /// The factors as sinograms of one angle, to be smoothed.
    StripeLines<double> factor_rows() const {
        return {factors, entries, backgrounds, all.frames, 1, all.columns, all.size};
    }
    /// Whether a column or one beside it is outside of its frame's limits.
    constexpr bool is_stripe(std::int64_t frame, std::int64_t x) const {
        for (std::int64_t beside = x - 1; beside <= x + 1; ++beside) {
            if (beside >= 0 && beside < all.columns &&
                limits[frame].is_outside(factors[frame * all.columns + beside])) {
                return true;
            }
        }
        return false;
    }
    constexpr bool is_dead(std::int64_t frame, std::int64_t x) const {
        return x >= 2 && x < all.columns - 2 && is_stripe(frame, x);
    }
    /// |value − mean| at row `r` of a line; the mean of change_window rows, of which one more is
    /// before it.
    constexpr double change(const double* line, std::int64_t r) const {
        double sum = 0;
        for (std::int64_t i = r - change_window / 2; i < r + change_window / 2; ++i) {
            sum += line[map_index(i, all.rows, Boundary::reflect)];
        }
        const double apart = line[r] - sum / change_window;
        return apart < 0 ? -apart : apart;
    }
    /// Finds the nearest good columns of a frame's dead ones, if these are fewer than a third.
    constexpr void find_neighbours(std::int64_t frame) const {
        std::int64_t dead = 0;
        std::int64_t good = 0;
        for (std::int64_t x = 0; x < all.columns; ++x) {
            const bool is_good = !is_dead(frame, x);
            good = is_good ? x : good;
            dead += is_good ? 0 : 1;
            left[frame * all.columns + x] = is_good ? -1 : static_cast<std::int32_t>(good);
        }
        for (std::int64_t x = all.columns - 1; x >= 0; --x) {
            const std::int64_t at = frame * all.columns + x;
            good = left[at] < 0 ? x : good;
            right[at] = static_cast<std::int32_t>(good);
            left[at] = dead < all.columns / 3 ? left[at] : -1;
        }
    }
    /// The value of a row between those of the nearest good columns.
    constexpr double between(std::int64_t frame, std::int64_t x, std::int64_t r) const {
        const std::int64_t at = frame * all.columns + x;
        const double before = all.lines[(frame * all.columns + left[at]) * all.rows + r];
        const double after = all.lines[(frame * all.columns + right[at]) * all.rows + r];
        return before + (after - before) * (static_cast<double>(x - left[at]) /
                                            static_cast<double>(right[at] - left[at]));
    }
};

// The steps of a search, on either queue.

/// The factor of a line becomes the mean of its sorted values over that of its smoothed ones.
void find_ratios(CpuQueue& queue, const StripeSearch& search);
void find_ratios(CudaQueue& queue, const StripeSearch& search);
/// The factor of a line becomes the sum of its changes.
void find_changes(CpuQueue& queue, const StripeSearch& search);
void find_changes(CudaQueue& queue, const StripeSearch& search);
/// Divides the factors by their backgrounds; by the mean background where one is 0.
void divide_factors(CpuQueue& queue, const StripeSearch& search);
void divide_factors(CudaQueue& queue, const StripeSearch& search);
/// The limits of each frame, of the sorted entries of its factors.
void find_limits(CpuQueue& queue, const StripeSearch& search);
void find_limits(CudaQueue& queue, const StripeSearch& search);
/// Stripes become the smoothed lines; other lines are divided by their factor.
void replace_large(CpuQueue& queue, const StripeSearch& search);
void replace_large(CudaQueue& queue, const StripeSearch& search);
/// Dead lines are interpolated between the nearest good ones.
void replace_dead(CpuQueue& queue, const StripeSearch& search);
void replace_dead(CudaQueue& queue, const StripeSearch& search);

} // namespace runner
