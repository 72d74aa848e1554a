// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/ordered_key.hpp"
#include "kernels/reduce/reduce.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {

/// reduce() of an operation that puts elements in order.
void reduce_by_order(CpuQueue& queue, const Reduction& reduce, std::int64_t groups,
                     const std::byte* in, std::byte* out, std::byte* scratch);
void reduce_by_order(CudaQueue& queue, const Reduction& reduce, std::int64_t groups,
                     const std::byte* in, std::byte* out);

/// The percentiles that a place becomes; of the median 50.
struct PlacePercentiles {
    std::array<double, Reduction::most_percentiles> each;
    std::int64_t count;

    static PlacePercentiles of(const Reduction& reduce);
};

/// Whether it is the ordered_key() of a NaN.
template <class T> constexpr bool is_key_of_nan(SignedOf<sizeof(T)> key) {
    return std::is_floating_point_v<T> && key == std::numeric_limits<SignedOf<sizeof(T)>>::max();
}

} // namespace runner
