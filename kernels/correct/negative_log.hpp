// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace runner {

// −ln(t) of a float32 above 0, the same on every backend: t = m · 2^e with m in [√½, √2), and
//   ln(t) = fma(e, ln 2, 2 · fma(s · z, p(z), s)), s = (m − 1) / (m + 1), z = s · s
// in float64, where p is the series 1/3 + z/5 + z²/7 + …, of fused steps from its last term on.
// What is left out is below 10⁻¹⁴ of the result, which is rounded to float32.

/// 1/3, 1/5, … of the series.
inline constexpr std::array<double, 9> log_terms = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                                    1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19};
inline constexpr double log_of_2 = 0.693147180559945309417;
/// The bits of √½: those of t less these have e above the 52 others.
inline constexpr std::int64_t root_half_bits = 0x3FE6A09E667F3BCD;

/// −∞ of infinity, NaN of NaN.
inline float negative_log(float t) {
    if (!(t <= std::numeric_limits<float>::max())) {
        return -t;
    }
    const auto bits = std::bit_cast<std::int64_t>(static_cast<double>(t));
    const std::int64_t e = (bits - root_half_bits) >> 52;
    const auto m = std::bit_cast<double>(bits - e * (std::int64_t{1} << 52));
    const double s = (m - 1) / (m + 1);
    const double z = s * s;
    double p = log_terms.back();
    for (std::size_t i = log_terms.size() - 1; i-- > 0;) {
        p = std::fma(p, z, log_terms[i]);
    }
    const double of_m = 2 * std::fma(s * z, p, s);
    return static_cast<float>(-std::fma(static_cast<double>(e), log_of_2, of_m));
}

} // namespace runner
