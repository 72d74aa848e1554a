// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/elements.hpp"
#include "kernels/elements/ordered_key.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

#include <cuda_runtime.h>

namespace runner {

/// visit_element_type() of base/element_type.hpp, of numbers alone.
template <class F> __device__ inline void visit_on_device(ElementType type, const F& f) {
    switch (type) {
    case ElementType::int8: return f(std::int8_t{});
    case ElementType::uint8: return f(std::uint8_t{});
    case ElementType::int16: return f(std::int16_t{});
    case ElementType::uint16: return f(std::uint16_t{});
    case ElementType::int32: return f(std::int32_t{});
    case ElementType::uint32: return f(std::uint32_t{});
    case ElementType::int64: return f(std::int64_t{});
    case ElementType::uint64: return f(std::uint64_t{});
    case ElementType::float32: return f(float{});
    default: return f(double{});
    }
}

/// An element as a double; as static_cast, without the GPU's slow conversions of 32-bit integers:
/// the bits of 2⁵² + x, less 2⁵².
template <class In> __device__ inline double to_double(In value) {
    constexpr int exponent = 0x43300000; // of 2⁵², in the high half
    if constexpr (std::is_floating_point_v<In> || sizeof(In) == 8) {
        return static_cast<double>(value);
    } else if constexpr (std::is_signed_v<In>) {
        const int shifted = static_cast<int>(value) ^ std::numeric_limits<int>::min();
        return __dadd_rn(__hiloint2double(exponent, shifted), -(0x1p52 + 0x1p31));
    } else {
        return __dadd_rn(__hiloint2double(exponent, static_cast<int>(value)), -0x1p52);
    }
}

/// As converted<Out>() of elements.hpp; by instructions of the GPU where it has them.
template <class Out, class T> __device__ inline Out converted_on_device(T value) {
    if constexpr (std::is_integral_v<Out> && sizeof(Out) <= 2 && std::is_same_v<T, float>) {
        constexpr float least = std::numeric_limits<Out>::min();
        constexpr float most = std::numeric_limits<Out>::max();
        const float number = value == value ? value : 0.0F;
        return static_cast<Out>(__float2int_rn(fminf(fmaxf(number, least), most)));
    } else if constexpr (std::is_same_v<Out, std::int64_t>) {
        return value == value ? Out{__double2ll_rn(value)} : Out{0}; // saturates
    } else if constexpr (std::is_same_v<Out, std::uint64_t>) {
        return value > 0 ? Out{__double2ull_rn(value)} : Out{0};
    } else if constexpr (std::is_integral_v<Out>) {
        return static_cast<Out>(__double2loint(integer_in_low_half<Out>(value)));
    } else {
        return static_cast<Out>(value);
    }
}

/// The same, but every NaN is the quiet one of the CPU: conversions on a GPU make another.
template <class Out, class T> __device__ inline Out quiet_on_device(T value) {
    if constexpr (std::is_floating_point_v<Out>) {
        return is_nan(value) ? std::numeric_limits<Out>::quiet_NaN() : static_cast<Out>(value);
    } else {
        return converted_on_device<Out>(value);
    }
}

/// Stores a value as element `at` of an array of the type, by quiet_on_device().
__device__ inline void store_number(ElementType type, double value, std::byte* out,
                                    std::int64_t at) {
    visit_on_device(type, [&](auto zero) {
        using Out = decltype(zero);
        reinterpret_cast<Out*>(out)[at] = quiet_on_device<Out>(value);
    });
}

} // namespace runner
