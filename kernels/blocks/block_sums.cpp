// SPDX-License-Identifier: BSD-3-Clause
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/blocks/block_sums.cpp"
#include <hwy/foreach_target.h>

#include "kernels/blocks/block_sums.hpp"

#include "base/element_type.hpp"

#include <cstddef>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T> inline constexpr bool is_short = std::is_integral_v<T> && sizeof(T) <= 2;

#if HWY_TARGET != HWY_SCALAR
/// The sum of the two numbers of half a lane's size that each lane is.
template <class D> HWY_INLINE hn::Vec<D> add_halves(D d, hn::Vec<D> both) {
    constexpr int bits = 4 * sizeof(hn::TFromD<D>);
    (void)d;
    if constexpr (std::is_signed_v<hn::TFromD<D>>) {
        return hn::Add(hn::ShiftRight<bits>(hn::ShiftLeft<bits>(both)), hn::ShiftRight<bits>(both));
    } else {
        const auto low = hn::Set(d, static_cast<hn::TFromD<D>>((1U << bits) - 1U));
        return hn::Add(hn::And(both, low), hn::ShiftRight<bits>(both));
    }
}

/// The sums of the pairs of integers from `from` on.
template <class D, class T> HWY_INLINE hn::Vec<D> pair_sums(D d, const T* from) {
    using Sign = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
    if constexpr (sizeof(T) == 1) {
        using Pair = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
        const hn::Rebind<Pair, D> pairs;
        const hn::Repartition<T, decltype(pairs)> elements;
        return hn::PromoteTo(d, add_halves(pairs, hn::BitCast(pairs, hn::LoadU(elements, from))));
    } else if constexpr (sizeof(T) == 2) {
        const hn::Rebind<Sign, D> pairs;
        const hn::Repartition<T, D> elements;
        return hn::BitCast(d, add_halves(pairs, hn::BitCast(pairs, hn::LoadU(elements, from))));
    } else {
        hn::Vec<D> a;
        hn::Vec<D> b;
        hn::LoadInterleaved2(d, from, a, b);
        return hn::Add(a, b);
    }
}

template <class D, class V> HWY_INLINE hn::Vec<D> as_double(D d, V values) {
    if constexpr (std::is_same_v<V, hn::Vec<D>>) {
        (void)d;
        return values;
    } else {
        return hn::PromoteTo(d, values);
    }
}

/// Adds the elements of a row that belong to as many blocks as there are lanes.
template <int factor, class D, class T>
HWY_INLINE hn::Vec<D> add_columns(D d, hn::Vec<D> sum, const T* from) {
    if constexpr (std::is_integral_v<T>) {
        static_assert(factor == 2);
        return hn::Add(sum, pair_sums(d, from));
    } else {
        const hn::Rebind<T, D> narrow;
        hn::Vec<decltype(narrow)> a;
        hn::Vec<decltype(narrow)> b;
        if constexpr (factor == 2) {
            hn::LoadInterleaved2(narrow, from, a, b);
            return hn::Add(hn::Add(sum, as_double(d, a)), as_double(d, b));
        } else {
            static_assert(factor == 4);
            hn::Vec<decltype(narrow)> c;
            hn::Vec<decltype(narrow)> e;
            hn::LoadInterleaved4(narrow, from, a, b, c, e);
            sum = hn::Add(hn::Add(sum, as_double(d, a)), as_double(d, b));
            return hn::Add(hn::Add(sum, as_double(d, c)), as_double(d, e));
        }
    }
}
#endif

template <int factor, class T>
HWY_NOINLINE void sum_all(std::span<const T* const> rows, std::int64_t blocks,
                          RowSum<T>* HWY_RESTRICT sums) {
    std::int64_t b = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<RowSum<T>> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; b + lanes <= blocks; b += lanes) {
        auto sum = hn::Zero(d);
        for (const T* const row : rows) {
            sum = add_columns<factor>(d, sum, row + b * factor);
        }
        hn::StoreU(sum, d, sums + b);
    }
#endif
    for (; b < blocks; ++b) {
        sums[b] = 0;
        for (const T* const row : rows) {
            for (int column = 0; column < factor; ++column) {
                sums[b] += static_cast<RowSum<T>>(row[b * factor + column]);
            }
        }
    }
}

template <class T>
HWY_NOINLINE void divide_all(const std::int32_t* HWY_RESTRICT sums, std::int64_t blocks, int shift,
                             T* HWY_RESTRICT means) {
    const std::int32_t below_half = shift == 0 ? 0 : (1 << (shift - 1)) - 1;
    const std::int32_t odd = shift == 0 ? 0 : 1; // an odd quotient takes a half up
    std::int64_t b = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::int32_t> d;
    const hn::Rebind<T, decltype(d)> narrow;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; b + lanes <= blocks; b += lanes) {
        const auto sum = hn::LoadU(d, sums + b);
        const auto up = hn::And(hn::ShiftRightSame(sum, shift), hn::Set(d, odd));
        const auto rounded = hn::Add(hn::Add(sum, hn::Set(d, below_half)), up);
        hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRightSame(rounded, shift)), narrow, means + b);
    }
#endif
    for (; b < blocks; ++b) {
        means[b] = static_cast<T>((sums[b] + below_half + (sums[b] >> shift & odd)) >> shift);
    }
}

/// `rows`: an array of pointers to elements of the type.
void sum_type(ElementType type, const void* rows, std::size_t count, std::int64_t blocks,
              std::int64_t factor, void* sums) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (is_short<T> || std::is_floating_point_v<T> ||
                      std::is_same_v<T, std::int32_t>) {
            const std::span all(static_cast<const T* const*>(rows), count);
            auto* const to = static_cast<RowSum<T>*>(sums);
            if (factor == 2) {
                sum_all<2>(all, blocks, to);
            } else if constexpr (sums_columns<T>(4)) {
                sum_all<4>(all, blocks, to);
            }
        }
    });
}

void divide_type(ElementType type, const std::int32_t* sums, std::int64_t blocks, int shift,
                 void* means) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (is_short<T>) {
            divide_all(sums, blocks, shift, static_cast<T*>(means));
        }
    });
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(sum_type);
HWY_EXPORT(divide_type);

template <class T>
void sum_rows(std::span<const T* const> rows, std::int64_t blocks, std::int64_t factor,
              RowSum<T>* sums) {
    HWY_DYNAMIC_DISPATCH(sum_type)
    (element_type_of<T>(), rows.data(), rows.size(), blocks, factor, sums);
}

template <class T>
void divide_sums(const std::int32_t* sums, std::int64_t blocks, int shift, T* means) {
    HWY_DYNAMIC_DISPATCH(divide_type)(element_type_of<T>(), sums, blocks, shift, means);
}

template void sum_rows(std::span<const std::int8_t* const>, std::int64_t, std::int64_t,
                       std::int32_t*);
template void sum_rows(std::span<const std::uint8_t* const>, std::int64_t, std::int64_t,
                       std::int32_t*);
template void sum_rows(std::span<const std::int16_t* const>, std::int64_t, std::int64_t,
                       std::int32_t*);
template void sum_rows(std::span<const std::uint16_t* const>, std::int64_t, std::int64_t,
                       std::int32_t*);
template void sum_rows(std::span<const std::int32_t* const>, std::int64_t, std::int64_t,
                       std::int32_t*);
template void sum_rows(std::span<const float* const>, std::int64_t, std::int64_t, double*);
template void sum_rows(std::span<const double* const>, std::int64_t, std::int64_t, double*);

template void divide_sums(const std::int32_t*, std::int64_t, int, std::int8_t*);
template void divide_sums(const std::int32_t*, std::int64_t, int, std::uint8_t*);
template void divide_sums(const std::int32_t*, std::int64_t, int, std::int16_t*);
template void divide_sums(const std::int32_t*, std::int64_t, int, std::uint16_t*);

} // namespace runner
#endif
