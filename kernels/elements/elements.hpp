// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
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
