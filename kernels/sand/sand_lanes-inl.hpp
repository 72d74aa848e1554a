// SPDX-License-Identifier: BSD-3-Clause
// Vectors as the words of the sand automaton's rule. Included once for every vector set, as Highway
// wants it; hence no #pragma once.
#if defined(RUNNER_KERNELS_SAND_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_SAND_LANES_INL_HPP
#undef RUNNER_KERNELS_SAND_LANES_INL_HPP
#else
#define RUNNER_KERNELS_SAND_LANES_INL_HPP
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LanesTag = hn::CappedTag<std::uint32_t, 16>;

/// 32 blocks a lane.
struct Lanes {
    hn::Vec<LanesTag> v;
};

HWY_INLINE Lanes operator&(Lanes a, Lanes b) { return {hn::And(a.v, b.v)}; }
HWY_INLINE Lanes operator|(Lanes a, Lanes b) { return {hn::Or(a.v, b.v)}; }
HWY_INLINE Lanes operator^(Lanes a, Lanes b) { return {hn::Xor(a.v, b.v)}; }
HWY_INLINE Lanes operator~(Lanes a) { return {hn::Not(a.v)}; }
HWY_INLINE Lanes xor3(Lanes a, Lanes b, Lanes c) { return {hn::Xor3(a.v, b.v, c.v)}; }
HWY_INLINE Lanes majority(Lanes a, Lanes b, Lanes c) {
#if HWY_TARGET <= HWY_AVX3
    return {hn::Vec<LanesTag>{_mm512_ternarylogic_epi32(a.v.raw, b.v.raw, c.v.raw, 0xE8)}};
#else
    return {hn::Or(hn::And(a.v, b.v), hn::And(c.v, hn::Or(a.v, b.v)))};
#endif
}
HWY_INLINE bool none(Lanes a) {
    const LanesTag d;
    return hn::AllTrue(d, hn::Eq(a.v, hn::Zero(d)));
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#include "kernels/sand/sand_rule-inl.hpp"

#endif
