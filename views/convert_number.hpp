// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/file_elements.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace runner {

/// The nearest number of 16 bits, of two the even one; infinity from 65520 on.
inline Half nearest_half(double value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double size = std::fabs(value);
    if (std::isnan(size)) {
        return {static_cast<std::uint16_t>(sign | 0x7E00)};
    }
    if (size >= 65520) {
        return {static_cast<std::uint16_t>(sign | 0x7C00)};
    }
    constexpr double least_normal = 0x1p-14;
    if (size < least_normal) {
        // Steps of 2⁻²⁴; 1024 of them are the bits of the least normal number.
        const double steps = std::nearbyint(std::ldexp(size, 24));
        return {static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(steps))};
    }
    const int exponent = std::ilogb(size);
    // 1024 to 2048 steps, of which 2048 carry into the exponent as the sum of the bits does.
    const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return {static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + steps))};
}

/// How a value fits a type.
enum class Fit { good, below, above, not_a_number };

template <class T> constexpr bool is_half = std::is_same_v<T, Half>;

/// A source's element as a number; of 16 bits as float32.
template <class T> auto value_of(T element) {
    if constexpr (is_half<T>) {
        return half_value(element);
    } else {
        return element;
    }
}

/// Fit of an integer. Where it is below or above, `to` is the type's end.
template <class To, class V> Fit to_integer(V value, To& to) {
    using Limits = std::numeric_limits<To>;
    if constexpr (std::is_integral_v<V>) {
        if (std::in_range<To>(value)) {
            to = static_cast<To>(value); // NOLINT(bugprone-signed-char-misuse): int8 is a number
            return Fit::good;
        }
        const bool below = std::cmp_less(value, Limits::min());
        to = below ? Limits::min() : Limits::max();
        return below ? Fit::below : Fit::above;
    } else {
        if (std::isnan(value)) {
            return Fit::not_a_number;
        }
        // Powers of two, which V holds, unlike the type's greatest value.
        const V end = std::ldexp(V{1}, Limits::digits);
        const V first = std::is_signed_v<To> ? -end : V{0};
        const V rounded = std::nearbyint(value);
        if (rounded < first || rounded >= end) {
            to = rounded < first ? Limits::min() : Limits::max();
            return rounded < first ? Fit::below : Fit::above;
        }
        to = static_cast<To>(rounded);
        return Fit::good;
    }
}

/// The value as a `To`: rounded once, to the nearest, halves to even. Where it is below or above
/// all finite values, `to` is the last of them.
template <class To, class V> Fit convert_number(V value, To& to) {
    if constexpr (std::is_integral_v<To>) {
        return to_integer(value, to);
    } else if constexpr (is_half<To>) {
        const auto wide = static_cast<double>(value);
        to = nearest_half(wide);
        if ((to.bits & 0x7FFF) == 0x7C00 && std::isfinite(wide)) {
            to.bits = static_cast<std::uint16_t>(to.bits - 1);
            return wide < 0 ? Fit::below : Fit::above;
        }
        return Fit::good;
    } else {
        to = static_cast<To>(value);
        if constexpr (std::is_floating_point_v<V>) {
            if (std::isinf(to) && std::isfinite(value)) {
                to = std::copysign(std::numeric_limits<To>::max(), to);
                return value < 0 ? Fit::below : Fit::above;
            }
        }
        return Fit::good;
    }
}

} // namespace runner
