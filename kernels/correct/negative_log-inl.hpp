// SPDX-License-Identifier: BSD-3-Clause
// The negative logarithm in vectors. Included once for every vector set, as Highway wants it; hence
// no #pragma once.
#if defined(RUNNER_KERNELS_CORRECT_NEGATIVE_LOG_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_CORRECT_NEGATIVE_LOG_INL_HPP
#undef RUNNER_KERNELS_CORRECT_NEGATIVE_LOG_INL_HPP
#else
#define RUNNER_KERNELS_CORRECT_NEGATIVE_LOG_INL_HPP
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

#include "kernels/correct/negative_log.hpp"
#include "kernels/queue/fused-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LogTag = hn::ScalableTag<double>;

/// negative_log() of finite values, in half as many lanes as floats have.
HWY_INLINE hn::Vec<LogTag> log_vector(LogTag d, hn::Vec<LogTag> t) {
    const hn::RebindToSigned<LogTag> whole;
    const auto bits = hn::BitCast(whole, t);
    const auto e = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(whole, root_half_bits)));
    const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(e)));
    const auto one = hn::Set(d, 1.0);
    const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
    const auto z = hn::Mul(s, s);
    auto p = hn::Set(d, log_terms.back());
    for (std::size_t i = log_terms.size() - 1; i-- > 0;) {
        p = fused(d, p, z, hn::Set(d, log_terms[i]));
    }
    const auto of_m = hn::Mul(hn::Set(d, 2.0), fused(d, hn::Mul(s, z), p, s));
    return hn::Neg(fused(d, hn::ConvertTo(d, e), hn::Set(d, log_of_2), of_m));
}

/// The logarithms of values above 0 and NaN, in place.
HWY_NOINLINE inline void log_all(float* values, std::int64_t count) {
    const LogTag d;
    const hn::Rebind<float, LogTag> narrow;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto t = hn::LoadU(narrow, values + i);
        const auto result = hn::DemoteTo(narrow, log_vector(d, hn::PromoteTo(d, t)));
        const auto finite = hn::Le(t, hn::Set(narrow, std::numeric_limits<float>::max()));
        hn::StoreU(hn::IfThenElse(finite, result, hn::Neg(t)), narrow, values + i);
    }
    for (; i < count; ++i) {
        values[i] = negative_log(values[i]);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
