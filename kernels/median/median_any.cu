// SPDX-License-Identifier: BSD-3-Clause
// Medians of any window: a thread finds an element's key from the highest bits on, two at a time,
// by counting the window's keys that are below three candidates.
#include "base/error.hpp"
#include "kernels/elements/converted.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/median/median_any.hpp"
#include "kernels/queue/launch.cuh"

#include <limits>
#include <type_traits>

namespace runner {
namespace {

constexpr int threads = 128;

/// Of two elements: exact for integers, as far as float64 is.
template <class T> __device__ double distance(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return fabs(static_cast<double>(a) - static_cast<double>(b));
    } else {
        using Wide = std::make_unsigned_t<T>;
        return static_cast<double>(
            static_cast<Wide>(a > b ? static_cast<Wide>(a) - static_cast<Wide>(b)
                                    : static_cast<Wide>(b) - static_cast<Wide>(a)));
    }
}

/// Calls `take` with the key of each element of the window, as a number without sign.
template <class T, class Take>
__device__ void each_key(const MedianView& view, const T* in, T fill, std::int64_t layer,
                         std::int64_t y, std::int64_t x, const Take& take) {
    using Key = SignedOf<sizeof(T)>;
    using Bits = std::make_unsigned_t<Key>;
    const auto bits = [](T element) {
        return static_cast<Bits>(static_cast<Bits>(ordered_key(element)) ^
                                 static_cast<Bits>(std::numeric_limits<Key>::min()));
    };
    const bool inside = x >= view.radius_x && x + view.radius_x < view.columns;
    for (int dz = -view.radius_z; dz <= view.radius_z; ++dz) {
        for (int dy = -view.radius_y; dy <= view.radius_y; ++dy) {
            const std::int64_t held = view.held_row(layer, y + dy, dz);
            const T* row = in + held * view.columns;
            for (int dx = -view.radius_x; dx <= view.radius_x; ++dx) {
                const std::int64_t column =
                    inside ? x + dx : map_index(x + dx, view.columns, view.boundary);
                take(bits(held < 0 || column < 0 ? fill : row[column]));
            }
        }
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    search_kernel(MedianView view, std::uint32_t strips, const T* in, T* out, T fill) {
    using Key = SignedOf<sizeof(T)>;
    using Bits = std::make_unsigned_t<Key>;
    const std::int64_t x = std::int64_t{blockIdx.x % strips} * threads + threadIdx.x;
    const std::int64_t line = blockIdx.x / strips;
    if (x >= view.columns) {
        return;
    }
    const std::int64_t frame = line / view.out_rows;
    const std::int64_t row = view.out_first + line % view.out_rows;
    const std::int64_t layer = view.layer_of(row);
    const std::int64_t y = row - layer * view.rows;
    in += frame * view.in_rows * view.columns;
    const int half =
        (2 * view.radius_z + 1) * (2 * view.radius_y + 1) * (2 * view.radius_x + 1) / 2;
    Bits found = 0;
    for (int shift = static_cast<int>(8 * sizeof(T)) - 2; shift >= 0; shift -= 2) {
        const auto candidate = [&](unsigned digit) {
            return static_cast<Bits>(found | static_cast<Bits>(Bits(digit) << shift));
        };
        const Bits first = candidate(1);
        const Bits second = candidate(2);
        const Bits third = candidate(3);
        int below_first = 0;
        int below_second = 0;
        int below_third = 0;
        each_key(view, in, fill, layer, y, x, [&](Bits key) {
            below_first += key < first ? 1 : 0;
            below_second += key < second ? 1 : 0;
            below_third += key < third ? 1 : 0;
        });
        found = below_third <= half    ? third
                : below_second <= half ? second
                : below_first <= half  ? first
                                       : found;
    }
    T result = element_of_key<T>(
        static_cast<Key>(found ^ static_cast<Bits>(std::numeric_limits<Key>::min())));
    if (view.has_difference) {
        const T own = in[(row - view.in_first) * view.columns + x];
        result = distance(own, result) > view.difference ? result : own;
    }
    out[line * view.columns + x] = result;
}

} // namespace

void launch_median_search(CudaQueue& queue, ElementType type, const MedianView& view,
                          const std::byte* in, std::byte* out) {
    const std::int64_t strips = (view.columns + threads - 1) / threads;
    const std::int64_t blocks = strips * view.frames * view.out_rows;
    if (blocks > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ExitCode::defect,
                    {"a block of rows is too large for one launch", "median", "", ""});
    }
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        launch(queue, {dim3(static_cast<unsigned>(blocks)), dim3(threads)}, search_kernel<T>, view,
               static_cast<std::uint32_t>(strips), reinterpret_cast<const T*>(in),
               reinterpret_cast<T*>(out), converted<T>(view.fill));
    });
}

} // namespace runner
