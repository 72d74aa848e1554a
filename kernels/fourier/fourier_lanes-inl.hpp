// SPDX-License-Identifier: BSD-3-Clause
// Transforms of lines side by side in vectors. Included once for every vector set, as Highway wants
// it; hence no #pragma once.
#if defined(RUNNER_KERNELS_FOURIER_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_FOURIER_LANES_INL_HPP
#undef RUNNER_KERNELS_FOURIER_LANES_INL_HPP
#else
#define RUNNER_KERNELS_FOURIER_LANES_INL_HPP
#endif

#include <cstdint>
#include <utility>

#include <hwy/highway.h>

#include "kernels/fourier/fourier_lanes.hpp"
#include "kernels/queue/fused-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FourierTag = hn::CappedTag<float, fourier_lanes>;

/// A number of each of some lines.
struct FourierWord {
    hn::Vec<FourierTag> v;
};
HWY_INLINE FourierWord operator+(FourierWord a, FourierWord b) { return {hn::Add(a.v, b.v)}; }
HWY_INLINE FourierWord operator-(FourierWord a, FourierWord b) { return {hn::Sub(a.v, b.v)}; }
HWY_INLINE FourierWord times(FourierWord a, float b) {
    return {hn::Mul(a.v, hn::Set(FourierTag(), b))};
}
HWY_INLINE FourierWord fused(FourierWord a, float b, FourierWord c) {
    const FourierTag d;
    return {fused(d, a.v, hn::Set(d, b), c.v)};
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#include "kernels/fourier/fourier_butterflies-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {

/// A pass over all lines: `from` and `to` as FourierLanes says. `factors`: of this pass.
template <int radix>
HWY_NOINLINE void pass_lanes(std::int64_t length, std::int64_t before, const ComplexFloat* factors,
                             const float* HWY_RESTRICT from, float* HWY_RESTRICT to) {
    const FourierTag d;
    const std::int64_t apart = length / radix; // from one value of a butterfly to the next
    for (std::int64_t block = 0; block < apart / before; ++block) {
        for (std::int64_t k = 0; k < before; ++k) {
            const float* const first = from + (block * before + k) * fourier_step;
            float* const result = to + (block * before * radix + k) * fourier_step;
            for (std::int64_t lane = 0; lane < fourier_lanes;
                 lane += static_cast<std::int64_t>(hn::Lanes(d))) {
                ComplexWord<FourierWord> x[radix];
#pragma GCC unroll 16
                for (int r = 0; r < radix; ++r) {
                    const float* const at = first + r * apart * fourier_step + lane;
                    x[r] = {{hn::LoadU(d, at)}, {hn::LoadU(d, at + fourier_lanes)}};
                    if (r > 0 && before > 1) {
                        const ComplexFloat factor = factors[(r - 1) * before + k];
                        x[r] = turned(x[r], factor.re, factor.im);
                    }
                }
                Butterfly<radix>::transform(x);
#pragma GCC unroll 16
                for (int r = 0; r < radix; ++r) {
                    float* const at = result + r * before * fourier_step + lane;
                    hn::StoreU(x[r].re.v, d, at);
                    hn::StoreU(x[r].im.v, d, at + fourier_lanes);
                }
            }
        }
    }
}

/// Transforms lines forward; they are in lanes.from before and after.
inline void transform_lanes(const FourierPasses& passes, const ComplexFloat* factors,
                            FourierLanes& lanes) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(passes.count); ++i) {
        const std::int64_t before = passes.before[i].value;
        const int radix = passes.radix[i];
        const auto pass = [&](auto function) {
            function(passes.length, before, factors, lanes.from, lanes.to);
        };
        switch (radix) {
        case 2: pass(pass_lanes<2>); break;
        case 3: pass(pass_lanes<3>); break;
        case 4: pass(pass_lanes<4>); break;
        case 5: pass(pass_lanes<5>); break;
        case 7: pass(pass_lanes<7>); break;
        case 8: pass(pass_lanes<8>); break;
        case 9: pass(pass_lanes<9>); break;
        case 10: pass(pass_lanes<10>); break;
        default: pass(pass_lanes<16>); break;
        }
        factors += before > 1 ? (radix - 1) * before : 0;
        std::swap(lanes.from, lanes.to);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
