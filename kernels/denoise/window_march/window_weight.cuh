// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/denoise/window_means_call.hpp"

namespace runner::window_cuda {

/// WindowWeight::of() where it is no step, but for `start` in place of the weight's and before it
/// takes the least away.
__device__ inline float raised_weight(const WindowWeight& weight, float distance, float start) {
    const float s = __saturatef(__fmaf_rn(distance, weight.slope, start));
    const float rounded = __fmaf_rn(s, WindowWeight::range, weight.rounder);
    const float f = __fmaf_rn(s, WindowWeight::range, weight.rounder - rounded);
    float power = exp2_term(5);
    power = __fmaf_rn(power, f, exp2_term(4));
    power = __fmaf_rn(power, f, exp2_term(3));
    power = __fmaf_rn(power, f, exp2_term(2));
    power = __fmaf_rn(power, f, exp2_term(1));
    power = __fmaf_rn(power, f, exp2_term(0));
    return __uint_as_float(__float_as_uint(power) + (__float_as_uint(rounded) << 23));
}

} // namespace runner::window_cuda
