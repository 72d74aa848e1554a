// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <cuda_runtime.h>

namespace runner {

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

/// As converted<Out>() of elements.hpp.
template <class Out> __device__ inline Out converted_on_device(double value) {
    if constexpr (std::is_floating_point_v<Out>) {
        return static_cast<Out>(value);
    } else if constexpr (sizeof(Out) < 8) {
        constexpr double least = std::numeric_limits<Out>::min();
        constexpr double most = std::numeric_limits<Out>::max();
        const double number = value == value ? value : 0.0;
        const double above = number < least ? least : number;
        const double inside = above > most ? most : above;
        // A sum beyond 2⁵² is rounded to an integer, half to even, which is its low half.
        return static_cast<Out>(__double2loint(__dadd_rn(inside, 0x1.8p52)));
    } else if constexpr (std::is_signed_v<Out>) {
        return value == value ? static_cast<Out>(__double2ll_rn(value)) : Out{0}; // saturates
    } else {
        return value > 0 ? static_cast<Out>(__double2ull_rn(value)) : Out{0};
    }
}

template <class Out> __device__ inline Out converted_on_device(float value) {
    if constexpr (std::is_floating_point_v<Out>) {
        return static_cast<Out>(value);
    } else if constexpr (sizeof(Out) <= 2) {
        constexpr float least = std::numeric_limits<Out>::min();
        constexpr float most = std::numeric_limits<Out>::max();
        const float number = value == value ? value : 0.0F;
        return static_cast<Out>(__float2int_rn(fminf(fmaxf(number, least), most)));
    } else {
        return converted_on_device<Out>(static_cast<double>(value));
    }
}

} // namespace runner
