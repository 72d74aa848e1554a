// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce/reduce_select.hpp"

#include "kernels/elements/ordered_key.hpp"
#include "kernels/reduce/reduce_device.cuh"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

using namespace reduce_cuda;

/// Finds the bits of each percentile's key, the highest first: for each bit it counts the elements
/// below a candidate.
template <class T>
__global__ void __launch_bounds__(256)
    order_kernel(Places<T> places, PlacePercentiles percentiles) {
    using Key = SignedOf<sizeof(T)>;
    using Bits = std::make_unsigned_t<Key>;
    constexpr auto sign = static_cast<Bits>(std::numeric_limits<Key>::min());
    for_tiles_of_block(places, [&](const ReduceTile& tile, bool has_place) {
        const auto count = [&](const auto& is_counted) {
            std::int64_t own = 0;
            if (has_place) {
                places.for_elements(
                    tile, threadIdx.y, places.layout.elements, blockDim.y, [&](T element) {
                        own += places.is_value(element) && is_counted(ordered_key(element)) ? 1 : 0;
                    });
            }
            return sum_of_column(own);
        };
        const std::int64_t valid = count([](Key /*key*/) { return true; });
        const std::int64_t nans =
            std::is_floating_point_v<T> ? count([](Key key) { return is_key_of_nan<T>(key); }) : 0;
        for (std::int64_t which = 0; which < percentiles.count; ++which) {
            const std::int64_t rank =
                valid > 0 ? percentile_rank(percentiles.each[which], valid) : 0;
            Bits found = 0;
            for (int bit = static_cast<int>(8 * sizeof(T)) - 1; bit >= 0; --bit) {
                const auto candidate = static_cast<Bits>(found | static_cast<Bits>(Bits{1} << bit));
                const std::int64_t below = count([&](Key key) {
                    return static_cast<Bits>(static_cast<Bits>(key) ^ sign) < candidate;
                });
                found = below <= rank ? candidate : found;
            }
            if (threadIdx.y == 0 && has_place) {
                const Key key = nans > 0 ? std::numeric_limits<Key>::max()
                                         : static_cast<Key>(static_cast<Bits>(found ^ sign));
                reinterpret_cast<T*>(
                    places.out)[(tile.first + threadIdx.x) * percentiles.count + which] =
                    valid > 0 ? element_of_key<T>(key) : mark_of<T>(places.invalid);
            }
        }
    });
}

} // namespace

void reduce_by_order(CudaQueue& queue, const Reduction& reduce, std::int64_t groups,
                     const std::byte* in, std::byte* out) {
    visit_element_type(reduce.in_type, [&](auto zero) {
        using T = decltype(zero);
        launch_tiles(queue, reduce, places_of<T>(reduce, groups, in, out), order_kernel<T>,
                     PlacePercentiles::of(reduce));
    });
}

} // namespace runner
