// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {

/// constexpr, so that device code can call it too.
template <class T> constexpr bool is_nan(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        return !(value <= std::numeric_limits<T>::infinity());
    } else {
        return false;
    }
}

/// The signed integer of so many bytes.
template <std::size_t bytes>
using SignedOf = std::conditional_t<
    bytes == 1, std::int8_t,
    std::conditional_t<bytes == 2, std::int16_t,
                       std::conditional_t<bytes == 4, std::int32_t, std::int64_t>>>;

/// An integer of the element's size that orders as the element: −0 before 0, and every NaN, of
/// either sign, as one value after infinity.
template <class T> constexpr SignedOf<sizeof(T)> ordered_key(T value) {
    using Key = SignedOf<sizeof(T)>;
    using Limits = std::numeric_limits<Key>;
    if constexpr (std::is_floating_point_v<T>) {
        const auto bits = std::bit_cast<Key>(value);
        return is_nan(value) ? Limits::max() : bits < 0 ? bits ^ Limits::max() : bits;
    } else if constexpr (std::is_unsigned_v<T>) {
        return static_cast<Key>(static_cast<Key>(value) ^ Limits::min());
    } else {
        return value;
    }
}

/// The element of a key; a quiet NaN for every NaN.
template <class T> constexpr T element_of_key(SignedOf<sizeof(T)> key) {
    using Limits = std::numeric_limits<SignedOf<sizeof(T)>>;
    if constexpr (std::is_floating_point_v<T>) {
        return key == Limits::max() ? std::numeric_limits<T>::quiet_NaN()
                                    : std::bit_cast<T>(key < 0 ? key ^ Limits::max() : key);
    } else if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(key ^ Limits::min());
    } else {
        return key;
    }
}

} // namespace runner
