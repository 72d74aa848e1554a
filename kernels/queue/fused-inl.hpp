// SPDX-License-Identifier: BSD-3-Clause
// Included once for every vector set, as Highway wants it; hence no #pragma once.
#if defined(RUNNER_KERNELS_FUSED_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_FUSED_INL_HPP
#undef RUNNER_KERNELS_FUSED_INL_HPP
#else
#define RUNNER_KERNELS_FUSED_INL_HPP
#endif

#include <cmath>
#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// a · b + c with one rounding in every lane. Highway's MulAdd rounds twice on vector sets without
/// the instruction; there the lanes go one by one through std::fma.
template <class D, class V = hn::Vec<D>> HWY_INLINE V fused(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
    (void)d;
    return hn::MulAdd(a, b, c);
#else
    using T = hn::TFromD<D>;
    HWY_ALIGN T x[hn::MaxLanes(d)];
    HWY_ALIGN T y[hn::MaxLanes(d)];
    HWY_ALIGN T z[hn::MaxLanes(d)];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    hn::Store(c, d, z);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
        z[i] = std::fma(x[i], y[i], z[i]);
    }
    return hn::Load(d, z);
#endif
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
