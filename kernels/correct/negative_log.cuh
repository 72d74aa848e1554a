// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/correct/negative_log.hpp"
#include "kernels/elements/converted.cuh"

#include <cstdint>
#include <limits>

#include <cuda_runtime.h>

namespace runner {

/// A normal number above 0 as a double, without the GPU's slow conversion.
__device__ inline double widened(std::uint32_t bits) {
    return __hiloint2double(static_cast<int>((bits >> 3) + 0x38000000U),
                            static_cast<int>(bits << 29));
}

/// (m − 1) / (m + 1), rounded as a division is, of float32 bits of m in [√½, √2). Numerator and
/// denominator have 25 bits, so that no quotient is within 2⁻⁷⁹ of its size of where the rounding
/// changes; the last step is exact to 2⁻⁹⁰.
__device__ inline double half_argument(std::uint32_t bits) {
    const double m = widened(bits);
    const double above = __dadd_rn(m, -1);
    const double below = __dadd_rn(m, 1);
    float rough; // NOLINT: written below
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(__fadd_rn(__uint_as_float(bits), 1)));
    const double first = widened(__float_as_uint(rough));
    const double reciprocal = __fma_rn(__fma_rn(-below, first, 1), first, first);
    const double q = __dmul_rn(above, reciprocal);
    return __fma_rn(__fma_rn(-below, q, above), reciprocal, q);
}

/// negative_log() on the device.
__device__ inline float negative_log_on_device(float t) {
    const bool is_subnormal = t < std::numeric_limits<float>::min();
    const std::uint32_t bits = __float_as_uint(is_subnormal ? t * 0x1p24F : t);
    constexpr std::int32_t root_half = 0x3F3504F4; // the least float32 not below √½
    const std::int32_t step = (static_cast<std::int32_t>(bits) - root_half) >> 23;
    const std::int32_t e = step - (is_subnormal ? 24 : 0);
    const double s = half_argument(bits - (static_cast<std::uint32_t>(step) << 23));
    const double z = __dmul_rn(s, s);
    constexpr double terms[] = {log_terms[0], log_terms[1], log_terms[2],
                                log_terms[3], log_terms[4], log_terms[5],
                                log_terms[6], log_terms[7], log_terms[8]};
    double p = terms[8];
#pragma unroll
    for (int i = 7; i >= 0; --i) {
        p = __fma_rn(p, z, terms[i]);
    }
    const double of_m = __dmul_rn(2, __fma_rn(__dmul_rn(s, z), p, s));
    const float result = __double2float_rn(-__fma_rn(to_double(e), log_of_2, of_m));
    return t <= std::numeric_limits<float>::max() ? result : -t;
}

} // namespace runner
