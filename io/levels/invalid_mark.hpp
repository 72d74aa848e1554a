// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/file_elements.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

namespace runner {

template <class T> constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

template <class T> auto value_of(T element) {
    if constexpr (std::is_same_v<T, Half>) {
        return half_value(element);
    } else {
        return element;
    }
}

template <class T> bool is_nan(T element) {
    if constexpr (is_real<T>) {
        return std::isnan(value_of(element));
    } else {
        return false;
    }
}

/// Which elements of an array are no values: those equal to a number, and of floats NaN.
template <class T> struct InvalidMark {
    decltype(value_of(T())) number; ///< NaN: NaN alone

    bool is_on(T element) const { return value_of(element) == number || is_nan(element); }
};

/// The mark that a number is; none where no element of the type is equal to it. The double of the
/// greatest integer of 64 bits is that integer's.
template <class T> std::optional<InvalidMark<T>> invalid_mark(std::optional<double> number) {
    if (!number) {
        return std::nullopt;
    }
    if constexpr (is_real<T>) {
        return InvalidMark<T>{static_cast<decltype(value_of(T()))>(*number)};
    } else {
        constexpr T most = std::numeric_limits<T>::max();
        if (!(*number >= static_cast<double>(std::numeric_limits<T>::min()))) { // NaN too
            return std::nullopt;
        }
        const T element = *number < static_cast<double>(most) ? static_cast<T>(*number) : most;
        return static_cast<double>(element) == *number ? std::optional(InvalidMark<T>{element})
                                                       : std::nullopt;
    }
}

} // namespace runner
