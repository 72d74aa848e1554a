// SPDX-License-Identifier: BSD-3-Clause
// The conversions of convolution from the input's type and to the output's. Included once for every
// vector set, as Highway wants it; hence no #pragma once.
#if defined(RUNNER_KERNELS_CONVOLVE_TYPES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNNER_KERNELS_CONVOLVE_TYPES_INL_HPP
#undef RUNNER_KERNELS_CONVOLVE_TYPES_INL_HPP
#else
#define RUNNER_KERNELS_CONVOLVE_TYPES_INL_HPP
#endif

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/convolve/convolve_tile.hpp"

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Stands for an element type that has no loops of its own here: rows of it are converted by
/// kernels/elements.
struct AnyElement {};

/// `Lanes(d)` elements of the input as the compute type.
template <class D, class In> HWY_INLINE hn::Vec<D> load_as(D d, const In* from) {
    if constexpr (std::is_integral_v<In>) {
        const hn::Rebind<In, D> narrow;
        const hn::Rebind<std::int32_t, D> wide;
        return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, from)));
    } else {
        return hn::LoadU(d, from);
    }
}

/// Converts and stores `Lanes(d)` results: integers round half to even and saturate, NaN is 0.
template <class D, class Out> HWY_INLINE void store_as(D d, hn::Vec<D> value, Out* to) {
    using T = hn::TFromD<D>;
    if constexpr (std::is_same_v<T, Out>) {
        hn::StoreU(value, d, to);
    } else if constexpr (std::is_same_v<Out, float>) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
        // Highway's DemoteTo without vectors makes the largest float of what should be infinite.
        HWY_ALIGN T lanes[hn::MaxLanes(d)];
        hn::Store(value, d, lanes);
        for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
            to[i] = static_cast<float>(lanes[i]);
        }
#else
        const hn::Rebind<float, D> narrow;
        hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
#endif
    } else if constexpr (std::is_same_v<Out, double>) {
        const hn::ScalableTag<double> wide;
        const hn::Rebind<float, decltype(wide)> part;
        HWY_ALIGN T lanes[hn::MaxLanes(d)];
        hn::Store(value, d, lanes);
        for (std::size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(wide)) {
            hn::StoreU(hn::PromoteTo(wide, hn::Load(part, lanes + i)), wide, to + i);
        }
    } else {
        const auto number = hn::IfThenElseZero(hn::Eq(value, value), value);
        const auto most = hn::Set(d, static_cast<T>(std::numeric_limits<Out>::max()));
        const auto inside = hn::Min(hn::Max(number, hn::Zero(d)), most);
        const hn::Rebind<std::int32_t, D> whole;
        const hn::Rebind<Out, D> narrow;
        if constexpr (std::is_same_v<T, float>) {
            hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(inside)), narrow, to);
        } else {
            hn::StoreU(hn::DemoteTo(narrow, hn::DemoteTo(whole, hn::Round(inside))), narrow, to);
        }
    }
}

/// store_as for the first `count` < Lanes(d) lanes.
template <class D, class Out>
HWY_INLINE void store_some_as(D d, hn::Vec<D> value, Out* to, std::int64_t count) {
    Out lanes[hn::MaxLanes(d)];
    store_as(d, value, lanes);
    std::memcpy(to, lanes, static_cast<std::size_t>(count) * sizeof(Out));
}

/// to[i] = from[i] as the compute type, for i in [0, count).
template <class In, class T> HWY_NOINLINE void convert(const In* from, T* to, std::int64_t count) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        hn::StoreU(load_as(d, from + i), d, to + i);
    }
    for (; i < count; ++i) {
        to[i] = static_cast<T>(from[i]);
    }
}

/// A row of whole vectors of results becomes `count` elements of the output.
template <class T, class Out>
HWY_NOINLINE void put_row(const T* from, Out* to, std::int64_t count, OutStores stores) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    if constexpr (std::is_same_v<T, Out>) {
        if (stores == OutStores::past_caches) {
            // Such stores must be aligned: up to there, and from the last whole vector on, as
            // usual.
            for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % HWY_MAX_BYTES != 0;
                 ++i) {
                to[i] = from[i];
            }
            for (; i + lanes <= count; i += lanes) {
                hn::Stream(hn::LoadU(d, from + i), d, to + i);
            }
            for (; i < count; ++i) {
                to[i] = from[i];
            }
            return;
        }
    }
    for (; i + lanes <= count; i += lanes) {
        store_as(d, hn::Load(d, from + i), to + i);
    }
    if (i < count) {
        store_some_as(d, hn::Load(d, from + i), to + i, count - i);
    }
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#endif
