// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fourier/fourier.hpp"

#include "base/rounding.hpp"
#include "kernels/queue/parts.hpp"

#include <algorithm>

#include <oneapi/tbb/enumerable_thread_specific.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fourier/fourier.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/fourier/fourier_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {

void transform_some_lines(const FourierPasses& passes, FourierWay way, std::int64_t lines,
                          const ComplexFloat* in, ComplexFloat* out, const ComplexFloat* factors,
                          FourierLanes lanes) {
    // Backward is forward of numbers whose parts are exchanged.
    const bool is_forward = way == FourierWay::forward;
    const std::int64_t length = passes.length;
    for (std::int64_t line = 0; line < lines; ++line) {
        for (std::int64_t i = 0; i < length; ++i) {
            const ComplexFloat value = in[line * length + i];
            lanes.re(i, line) = is_forward ? value.re : value.im;
            lanes.im(i, line) = is_forward ? value.im : value.re;
        }
    }
    transform_lanes(passes, factors, lanes);
    for (std::int64_t line = 0; line < lines; ++line) {
        for (std::int64_t i = 0; i < length; ++i) {
            const float re = lanes.re(i, line);
            const float im = lanes.im(i, line);
            out[line * length + i] = is_forward ? ComplexFloat{re, im} : ComplexFloat{im, re};
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(transform_some_lines);

void transform_lines(CpuQueue& queue, const FourierPasses& passes, FourierWay way,
                     std::int64_t lines, const ComplexFloat* in, ComplexFloat* out,
                     const ComplexFloat* factors) {
    tbb::enumerable_thread_specific<FourierLanesMemory> memory;
    for_parts(queue, ceil_divide(lines, fourier_lanes), 0, [&](std::int64_t part) {
        const std::int64_t first = part * fourier_lanes;
        HWY_DYNAMIC_DISPATCH(transform_some_lines)
        (passes, way, std::min(fourier_lanes, lines - first), in + first * passes.length,
         out + first * passes.length, factors, memory.local().lanes(passes.length));
    });
}

} // namespace runner
#endif
