// SPDX-License-Identifier: BSD-3-Clause
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/blocks/row_extremes.cpp"
#include <hwy/foreach_target.h>

#include "kernels/blocks/row_extremes.hpp"

#include "base/element_type.hpp"

#include <algorithm>
#include <type_traits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Takes whole vectors, `step` at a time, and returns how many elements these had.
template <class T, class Counts>
HWY_INLINE std::int64_t widen_vectors(RowExtremes<T>& extremes, const T* from, std::int64_t count,
                                      const Counts& counts) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    constexpr int step = 4; // the latency of Min of floats
    hn::Vec<decltype(d)> least[step];
    hn::Vec<decltype(d)> greatest[step];
    for (int j = 0; j < step; ++j) {
        least[j] = hn::Set(d, extremes.least);
        greatest[j] = hn::Set(d, extremes.greatest);
    }
    std::int64_t i = 0;
    for (; i + step * lanes <= count; i += step * lanes) {
#pragma GCC unroll 4
        for (int j = 0; j < step; ++j) {
            const auto element = hn::LoadU(d, from + i + j * lanes);
            least[j] = hn::Min(least[j], counts(d, element, least[j]));
            greatest[j] = hn::Max(greatest[j], counts(d, element, greatest[j]));
        }
    }
    HWY_ALIGN T stored[2 * hn::MaxLanes(d)];
    for (int j = 0; j < step; ++j) {
        hn::Store(least[j], d, stored);
        hn::Store(greatest[j], d, stored + lanes);
        extremes.least = std::min(extremes.least, *std::min_element(stored, stored + lanes));
        extremes.greatest =
            std::max(extremes.greatest, *std::max_element(stored + lanes, stored + 2 * lanes));
    }
    return i;
}

template <class T>
HWY_NOINLINE void widen_all(RowExtremes<T>& extremes, const T* from, std::int64_t count,
                            const T* left_out) {
    constexpr T most = std::numeric_limits<T>::max();
    std::int64_t i = 0;
    if (left_out == nullptr && std::is_integral_v<T>) {
        i = widen_vectors(extremes, from, count,
                          [](auto /*d*/, auto element, auto /*other*/) { return element; });
    } else {
        const T out = left_out != nullptr ? *left_out : std::numeric_limits<T>::infinity();
        i = widen_vectors(extremes, from, count, [out](auto d, auto element, auto other) {
            auto counts = hn::Not(hn::Eq(element, hn::Set(d, out))); // true of NaN
            if constexpr (std::is_floating_point_v<T>) {             // false of NaN
                counts = hn::And(counts, hn::Le(hn::Abs(element), hn::Set(d, most)));
            }
            return hn::IfThenElse(counts, element, other);
        });
    }
    for (; i < count; ++i) {
        const T element = from[i];
        if (element >= std::numeric_limits<T>::lowest() && element <= most &&
            (left_out == nullptr || element != *left_out)) {
            extremes.least = std::min(extremes.least, element);
            extremes.greatest = std::max(extremes.greatest, element);
        }
    }
}

void widen_type(ElementType type, void* extremes, const void* from, std::int64_t count,
                const void* left_out) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        widen_all(*static_cast<RowExtremes<T>*>(extremes), static_cast<const T*>(from), count,
                  static_cast<const T*>(left_out));
    });
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(widen_type);

template <class T>
void widen(RowExtremes<T>& extremes, const T* elements, std::int64_t count, const T* left_out) {
    HWY_DYNAMIC_DISPATCH(widen_type)(element_type_of<T>(), &extremes, elements, count, left_out);
}

template void widen(RowExtremes<std::int8_t>&, const std::int8_t*, std::int64_t,
                    const std::int8_t*);
template void widen(RowExtremes<std::uint8_t>&, const std::uint8_t*, std::int64_t,
                    const std::uint8_t*);
template void widen(RowExtremes<std::int16_t>&, const std::int16_t*, std::int64_t,
                    const std::int16_t*);
template void widen(RowExtremes<std::uint16_t>&, const std::uint16_t*, std::int64_t,
                    const std::uint16_t*);
template void widen(RowExtremes<std::int32_t>&, const std::int32_t*, std::int64_t,
                    const std::int32_t*);
template void widen(RowExtremes<std::uint32_t>&, const std::uint32_t*, std::int64_t,
                    const std::uint32_t*);
template void widen(RowExtremes<std::int64_t>&, const std::int64_t*, std::int64_t,
                    const std::int64_t*);
template void widen(RowExtremes<std::uint64_t>&, const std::uint64_t*, std::int64_t,
                    const std::uint64_t*);
template void widen(RowExtremes<float>&, const float*, std::int64_t, const float*);
template void widen(RowExtremes<double>&, const double*, std::int64_t, const double*);

} // namespace runner
#endif
