// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {

/// A double whose low half is the value as an integer of up to 4 bytes, by the rules of
/// converted(). constexpr, so that device code can call it too (nvcc --expt-relaxed-constexpr).
template <class Out> constexpr double integer_in_low_half(double value) {
    constexpr double least = std::numeric_limits<Out>::min();
    constexpr double most = std::numeric_limits<Out>::max();
    const double number = value == value ? value : 0.0;
    const double above = number < least ? least : number;
    const double inside = above > most ? most : above;
    return inside + 0x1.8p52; // beyond 2⁵² a sum is rounded to an integer, half to even
}

/// A computed value as an element of type Out, by the rules of every kind that computes in floating
/// point: integers round half to even and saturate, NaN becomes 0; floats round to nearest, and
/// values too large for them become infinite. `T` is float or double. constexpr, so that device
/// code can call it too; converted_on_device() of converted.cuh takes fewer instructions.
template <class Out, class T> constexpr Out converted(T value) {
    static_assert(std::is_floating_point_v<T>);
    if constexpr (std::is_floating_point_v<Out>) {
        return static_cast<Out>(value);
    } else if constexpr (sizeof(Out) < 8) {
        return static_cast<Out>(std::bit_cast<std::int64_t>(integer_in_low_half<Out>(value)));
    } else {
        using Limits = std::numeric_limits<Out>;
        // Powers of two, which T holds, unlike the greatest value of a long integer.
        constexpr Out half = Limits::max() / 2 + 1;
        constexpr T end = 2 * static_cast<T>(half);
        constexpr T least = std::is_signed_v<Out> ? -end : T{0};
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

class CudaQueue;

/// to[i] = element i of `from`, of a number's type, in one rounding where it needs one. Host
/// memory, vectorised; any alignment of `to` to its elements and of `from` to its own.
void load_elements(ElementType type, const std::byte* from, std::int64_t count, float* to);
void load_elements(ElementType type, const std::byte* from, std::int64_t count, double* to);

/// The way back, as converted() says.
void store_elements(ElementType type, const float* from, std::int64_t count, std::byte* to);
void store_elements(ElementType type, const double* from, std::int64_t count, std::byte* to);

/// The same in the queue's device memory, elements aligned to their size. They return before the
/// work is done.
void load_elements(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
                   float* to);
void load_elements(CudaQueue& queue, ElementType type, const std::byte* from, std::int64_t count,
                   double* to);
void store_elements(CudaQueue& queue, ElementType type, const float* from, std::int64_t count,
                    std::byte* to);
void store_elements(CudaQueue& queue, ElementType type, const double* from, std::int64_t count,
                    std::byte* to);

} // namespace runner
