// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace runner {

/// The bits of an IEEE number of 16 bits: a sign, five bits of exponent, ten of mantissa.
struct Half {
    std::uint16_t bits = 0;
};

/// Its value, which float32 holds; a NaN keeps its bits.
inline float half_value(Half half) {
    constexpr std::uint32_t infinite = 31;
    constexpr std::uint32_t bias_difference = 127 - 15;
    const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000U) << 16U;
    const std::uint32_t exponent = half.bits >> 10U & 31U;
    const std::uint32_t mantissa = half.bits & 1023U;
    if (exponent == 0) { // steps of 2^-24
        const float size = static_cast<float>(mantissa) * 0x1p-24F;
        return sign != 0 ? -size : size;
    }
    const std::uint32_t wide = exponent == infinite ? 255U : exponent + bias_difference;
    return std::bit_cast<float>(sign | wide << 23U | mantissa << 13U);
}

} // namespace runner
