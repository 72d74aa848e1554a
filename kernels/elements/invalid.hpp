// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {

/// Which elements of an array are no values: those equal to a number, which is converted to the
/// array's type, and of floats every NaN as well. Where the number is NaN, NaN alone.
template <class T> struct InvalidTest {
    T value;

    /// constexpr, so that device code can call it too.
    constexpr bool operator()(T element) const { return element == value || is_nan(element); }
};

template <class T> InvalidTest<T> invalid_test(double value) { return {converted<T>(value)}; }

/// What an invalid element of an output of type T is, where `value` is that of the type: NaN of
/// floats, and the number of integers.
template <class T> T invalid_element(double value) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::numeric_limits<T>::quiet_NaN();
    } else {
        return converted<T>(value);
    }
}

/// The number that invalid elements of an output of type `out` are, where those of the input are
/// `value`: NaN of floats; of integers `value`, or the type's largest number where that has no such
/// element.
double invalid_value(ElementType out, double value);

/// Whether an array of this type has elements equal to the number.
bool has_element(ElementType type, double number);

/// The types of an input and an output, and their invalid elements.
struct InvalidMapping {
    ElementType in_type = ElementType::float32;
    double in_value = 0;
    ElementType out_type = ElementType::float32;
    double out_value = 0;
};

/// Makes out[i] invalid where in[i] is; the others stay. `count` elements in the queue's device
/// memory, aligned to their size. The CUDA form returns before the work is done.
void mark_invalid(CpuQueue& queue, const InvalidMapping& mapping, std::int64_t count,
                  const std::byte* in, std::byte* out);
void mark_invalid(CudaQueue& queue, const InvalidMapping& mapping, std::int64_t count,
                  const std::byte* in, std::byte* out);

} // namespace runner
