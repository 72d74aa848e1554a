// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/converted.cuh"
#include "kernels/elements/invalid.hpp"
#include "kernels/queue/launch.cuh"
#include "kernels/reduce/reduce_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace runner::reduce_cuda {

/// Groups of type T, of which some elements may be no values, and where their results go. A block
/// makes a tile at a time: a column of threads for each of its places, or all threads for the only
/// one.
template <class T> struct Places {
    GroupLayout layout;
    ReduceTiles tiles;
    const T* in;
    std::byte* out;
    ElementType out_type;
    InvalidTest<T> is_invalid;
    double invalid; ///< what places without a valid element become
    bool has_invalid;

    __device__ bool is_value(T element) const { return !has_invalid || !is_invalid(element); }

    /// Calls `work` with every `step`-th element of a place in [first, end).
    template <class Work>
    __device__ void for_elements(const ReduceTile& tile, std::int64_t first, std::int64_t end,
                                 std::int64_t step, const Work& work) const {
        const T* const from = in + tile.offset + threadIdx.x;
        for (std::int64_t i = first; i < end; i += step) {
            work(from[layout.element(i)]);
        }
    }
};

/// An invalid element of type T, whose number is `invalid`.
template <class T> __device__ inline T mark_of(double invalid) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::numeric_limits<T>::quiet_NaN();
    } else {
        return converted_on_device<T>(invalid);
    }
}

template <class T>
Places<T> places_of(const Reduction& reduce, std::int64_t groups, const std::byte* in,
                    std::byte* out) {
    const GroupLayout layout = group_layout(reduce);
    const bool has_invalid = reduce.invalid.has_value();
    const double number = reduce.invalid.value_or(0);
    return {layout,
            ReduceTiles(layout, groups),
            reinterpret_cast<const T*>(in),
            out,
            reduce.out_type,
            invalid_test<T>(number),
            invalid_value(reduce.out_type, number),
            has_invalid};
}

/// Calls `work` for each tile of the grid's blocks. All threads of a block call it alike; those
/// beyond the tile's width have no place. Shared memory may be used again by the next call.
template <class T, class Work>
__device__ void for_tiles_of_block(const Places<T>& places, const Work& work) {
    for (std::int64_t index = blockIdx.x; index < places.tiles.count(); index += gridDim.x) {
        const ReduceTile tile = places.tiles[index];
        work(tile, threadIdx.x < tile.width);
        __syncthreads();
    }
}

/// The counts of the threads of each column, added up; all threads get it.
__device__ inline std::int64_t sum_of_column(std::int64_t own) {
    __shared__ unsigned long long sums[most_tile];
    if (threadIdx.y == 0) {
        sums[threadIdx.x] = 0;
    }
    __syncthreads();
    atomicAdd(&sums[threadIdx.x], static_cast<unsigned long long>(own));
    __syncthreads();
    const auto sum = static_cast<std::int64_t>(sums[threadIdx.x]);
    __syncthreads();
    return sum;
}

/// So many blocks as there are tiles, or as keep a GPU busy. A block has a thread for each partial
/// sum of one place, or eight for each of the places of a tile.
template <class T, class Kernel, class... Arguments>
void launch_tiles(CudaQueue& queue, const Reduction& reduce, const Places<T>& places, Kernel kernel,
                  const Arguments&... arguments) {
    constexpr std::int64_t most_blocks = 1 << 20;
    const std::int64_t blocks = std::min(most_blocks, places.tiles.count());
    const bool is_wide = places.layout.kept[2].stride == 1;
    const std::int64_t all = places.tiles.count() * (is_wide ? most_tile : 1);
    const std::int64_t bytes = places.layout.elements * size_of(reduce.in_type) +
                               reduce.results() * size_of(reduce.out_type);
    launch(queue,
           {dim3(static_cast<unsigned>(blocks)),
            is_wide ? dim3(most_tile, 8) : dim3(1, Reduction::lanes),
            0,
            {static_cast<double>(all) * static_cast<double>(bytes)}},
           kernel, places, arguments...);
}

} // namespace runner::reduce_cuda
