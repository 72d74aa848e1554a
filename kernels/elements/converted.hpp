// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace runner {

/// A computed value as an element of type Out, by the rules of every kind that computes in floating
/// point: integers round half to even and saturate, NaN becomes 0; floats round to nearest, and
/// values too large for them become infinite. `T` is float or double.
template <class Out, class T> Out converted(T value) {
    static_assert(std::is_floating_point_v<T>);
    if constexpr (std::is_floating_point_v<Out>) {
        return static_cast<Out>(value);
    } else {
        using Limits = std::numeric_limits<Out>;
        // Powers of two, which T holds, unlike the greatest value of a long integer.
        const T end = std::ldexp(T{1}, Limits::digits);
        const T least = std::is_signed_v<Out> ? -end : T{0};
        if (std::isnan(value)) {
            return 0;
        }
        const T rounded = std::nearbyint(value);
        if (rounded < least) {
            return Limits::min();
        }
        return rounded >= end ? Limits::max() : static_cast<Out>(rounded);
    }
}

} // namespace runner
