// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// A complex number as it lies in memory.
struct ComplexFloat {
    float re = 0;
    float im = 0;
};

struct UnitRoot {
    double re = 1;
    double im = 0;

    /// Rounded.
    constexpr ComplexFloat to_float() const {
        return {static_cast<float>(re), static_cast<float>(im)};
    }
};

/// The sine of an angle up to π/4, by its series.
constexpr double short_sine(double angle) {
    const double square = angle * angle;
    double term = 1;
    for (int i = 18; i > 0; i -= 2) {
        term = 1 - square / (i * (i + 1)) * term;
    }
    return angle * term;
}

constexpr double short_cosine(double angle) {
    const double square = angle * angle;
    double term = 1;
    for (int i = 17; i > 0; i -= 2) {
        term = 1 - square / (i * (i + 1)) * term;
    }
    return term;
}

/// e^(−2πi k / n) for 0 ≤ k < n, in float64 by a series, without the system's library: the
/// same on every machine, and within 10⁻¹⁵.
constexpr UnitRoot unit_root(std::int64_t k, std::int64_t n) {
    // Eighths of the circle, counted by integers: the angle that is left is up to π/4.
    const std::int64_t eighth = 8 * k / n;
    const bool is_mirrored = eighth % 2 == 1;
    const std::int64_t left = is_mirrored ? (eighth + 1) * n - 8 * k : 8 * k - eighth * n;
    constexpr double pi = 3.14159265358979323846;
    const double angle = pi / 4 * static_cast<double>(left) / static_cast<double>(n);
    double re = short_cosine(angle);
    double im = short_sine(angle);
    if (is_mirrored) {
        const double other = re;
        re = im;
        im = other;
    }
    for (std::int64_t quarter = eighth / 2; quarter > 0; --quarter) {
        const double other = re;
        re = -im;
        im = other;
    }
    return {re, -im};
}

} // namespace runner
