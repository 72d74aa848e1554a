// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/elements.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elements/elements.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace runner {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T> inline constexpr bool is_short = std::is_integral_v<T> && sizeof(T) <= 2;

/// Whether load_vector() and store_vector() have vectors for the pair; the others go one by one.
template <class In, class T>
inline constexpr bool
    loads_vectors = is_short<In> || (std::is_same_v<T, double> && sizeof(In) == 4) ||
                    (std::is_same_v<T, float> && std::is_same_v<In, std::int32_t>);
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Highway's DemoteTo without vectors makes the largest float of what should be infinite.
inline constexpr bool demotes_floats = false;
#else
inline constexpr bool demotes_floats = true;
#endif
template <class T, class Out>
inline constexpr bool stores_vectors = is_short<Out> ||
                                       (std::is_same_v<T, double> &&
                                        (std::is_same_v<Out, std::int32_t> ||
                                         std::is_same_v<Out, std::uint32_t> ||
                                         (std::is_same_v<Out, float> && demotes_floats)));

/// `Lanes(d)` elements as the compute type.
template <class D, class In> HWY_INLINE hn::Vec<D> load_vector(D d, const In* from) {
    const hn::Rebind<In, D> narrow;
    const auto elements = hn::LoadU(narrow, from);
    if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
        const hn::Rebind<std::int32_t, D> whole;
        if constexpr (sizeof(In) == 4) {
            return hn::ConvertTo(d, elements);
        } else {
            return hn::ConvertTo(d, hn::PromoteTo(whole, elements));
        }
    } else if constexpr (std::is_same_v<In, std::uint32_t>) {
        // The bits of 2⁵² + x, less 2⁵².
        const hn::Rebind<std::uint64_t, D> wide;
        const auto exponent = hn::Set(wide, std::bit_cast<std::uint64_t>(0x1p52));
        return hn::Sub(hn::BitCast(d, hn::Or(hn::PromoteTo(wide, elements), exponent)),
                       hn::Set(d, 0x1p52));
    } else if constexpr (sizeof(In) == 4) {
        return hn::PromoteTo(d, elements);
    } else {
        const hn::Rebind<std::int32_t, D> whole;
        return hn::PromoteTo(d, hn::PromoteTo(whole, elements));
    }
}

/// Converts and stores `Lanes(d)` values.
template <class D, class Out> HWY_INLINE void store_vector(D d, hn::Vec<D> value, Out* to) {
    using T = hn::TFromD<D>;
    const hn::Rebind<Out, D> narrow;
    const hn::Rebind<std::int32_t, D> whole;
    if constexpr (std::is_same_v<Out, float>) {
        hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
    } else {
        const auto number = hn::IfThenElseZero(hn::Eq(value, value), value);
        const auto least = hn::Set(d, static_cast<T>(std::numeric_limits<Out>::min()));
        const auto most = hn::Set(d, static_cast<T>(std::numeric_limits<Out>::max()));
        const auto inside = hn::Min(hn::Max(number, least), most);
        if constexpr (std::is_same_v<T, float>) {
            hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(inside)), narrow, to);
        } else if constexpr (std::is_same_v<Out, std::uint32_t>) {
            // Beyond 2⁵² a sum is rounded to an integer, which is its low half.
            const hn::Rebind<std::uint64_t, D> wide;
            const auto sum = hn::BitCast(wide, hn::Add(inside, hn::Set(d, 0x1p52)));
            const auto low = hn::And(sum, hn::Set(wide, 0xFFFFFFFFU));
            hn::StoreU(hn::TruncateTo(narrow, low), narrow, to);
        } else if constexpr (std::is_same_v<Out, std::int32_t>) {
            hn::StoreU(hn::DemoteTo(whole, hn::Round(inside)), narrow, to);
        } else {
            hn::StoreU(hn::DemoteTo(narrow, hn::DemoteTo(whole, hn::Round(inside))), narrow, to);
        }
    }
}

template <class In, class T>
HWY_NOINLINE void load_all(const In* HWY_RESTRICT from, std::int64_t count, T* HWY_RESTRICT to) {
    std::int64_t i = 0;
    if constexpr (loads_vectors<In, T>) {
        const hn::ScalableTag<T> d;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
        for (; i + lanes <= count; i += lanes) {
            hn::StoreU(load_vector(d, from + i), d, to + i);
        }
    }
    for (; i < count; ++i) {
        to[i] = static_cast<T>(from[i]);
    }
}

template <class T, class Out>
HWY_NOINLINE void store_all(const T* HWY_RESTRICT from, std::int64_t count, Out* HWY_RESTRICT to) {
    std::int64_t i = 0;
    if constexpr (stores_vectors<T, Out>) {
        const hn::ScalableTag<T> d;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
        for (; i + lanes <= count; i += lanes) {
            store_vector(d, hn::LoadU(d, from + i), to + i);
        }
    }
    for (; i < count; ++i) {
        to[i] = converted<Out>(from[i]);
    }
}

template <class T>
void load_type(ElementType type, const std::byte* from, std::int64_t count, T* to) {
    visit_element_type(type, [&](auto zero) {
        load_all(reinterpret_cast<const decltype(zero)*>(from), count, to);
    });
}
template <class T>
void store_type(ElementType type, const T* from, std::int64_t count, std::byte* to) {
    visit_element_type(
        type, [&](auto zero) { store_all(from, count, reinterpret_cast<decltype(zero)*>(to)); });
}

void load_floats(ElementType type, const std::byte* from, std::int64_t count, float* to) {
    load_type(type, from, count, to);
}
void load_doubles(ElementType type, const std::byte* from, std::int64_t count, double* to) {
    load_type(type, from, count, to);
}
void store_floats(ElementType type, const float* from, std::int64_t count, std::byte* to) {
    store_type(type, from, count, to);
}
void store_doubles(ElementType type, const double* from, std::int64_t count, std::byte* to) {
    store_type(type, from, count, to);
}

} // namespace HWY_NAMESPACE
} // namespace runner
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace runner {

HWY_EXPORT(load_floats);
HWY_EXPORT(load_doubles);
HWY_EXPORT(store_floats);
HWY_EXPORT(store_doubles);

void load_elements(ElementType type, const std::byte* from, std::int64_t count, float* to) {
    HWY_DYNAMIC_DISPATCH(load_floats)(type, from, count, to);
}
void load_elements(ElementType type, const std::byte* from, std::int64_t count, double* to) {
    HWY_DYNAMIC_DISPATCH(load_doubles)(type, from, count, to);
}
void store_elements(ElementType type, const float* from, std::int64_t count, std::byte* to) {
    HWY_DYNAMIC_DISPATCH(store_floats)(type, from, count, to);
}
void store_elements(ElementType type, const double* from, std::int64_t count, std::byte* to) {
    HWY_DYNAMIC_DISPATCH(store_doubles)(type, from, count, to);
}

} // namespace runner
#endif
