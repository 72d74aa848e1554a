// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/divisor.cuh"
#include "kernels/match_sparse_plan.hpp"
#include "kernels/match_warp_list.cuh"

namespace runner::match_cuda {

/// From a candidate's place among the distances of a part to its number in the window.
struct PartNumbers {
    Divisor by_columns;
    Divisor by_part_x;
    std::uint32_t first;        ///< number of the part's first candidate
    std::uint32_t stride_along; ///< numbers from one candidate to the next along this axis
    std::uint32_t stride_other;
};

__device__ inline PartNumbers part_numbers(const MatchWork& work, const SparsePlan& plan,
                                           const std::int64_t (&start)[3]) {
    const auto wide = static_cast<std::uint32_t>(work.window(2));
    const std::uint32_t layer = wide * static_cast<std::uint32_t>(work.window(1));
    return {plan.by_columns, plan.by_part_x,
            static_cast<std::uint32_t>(start[0]) * layer +
                static_cast<std::uint32_t>(start[1]) * wide + static_cast<std::uint32_t>(start[2]),
            plan.along == 0 ? layer : wide, plan.along == 0 ? wide : layer};
}

/// The key of a candidate by its number in the window, from that by its place in the part.
__device__ inline Key numbered(Key key, const PartNumbers& numbers) {
    const Divided along = divide(static_cast<std::uint32_t>(key), numbers.by_columns);
    const Divided other = divide(along.rest, numbers.by_part_x);
    const std::uint32_t number = numbers.first + along.quotient * numbers.stride_along +
                                 other.quotient * numbers.stride_other + other.rest;
    return (key & ~Key{0xFFFFFFFF}) | number;
}

/// A key that `count` candidates of the part do not exceed, and not many more: each lane takes the
/// least of as many groups of candidates as make a list twice as long as is wanted, and of these
/// the last that is wanted is it.
template <int rows, int groups>
__device__ Key bound_of(const float* distances, int candidates, int count) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    std::uint32_t least[groups];
    std::uint32_t place[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g) {
        least[g] = static_cast<std::uint32_t>(no_match >> 32);
        place[g] = static_cast<std::uint32_t>(no_match);
    }
#pragma unroll 2
    for (int i = lane; i < candidates; i += SparsePlan::round) {
#pragma unroll
        for (int k = 0; k < SparsePlan::round / 32; ++k) {
            const std::uint32_t found = __float_as_uint(distances[i + 32 * k]);
            const bool less = found < least[k % groups];
            least[k % groups] = less ? found : least[k % groups];
            place[k % groups] = less ? static_cast<std::uint32_t>(i + 32 * k) : place[k % groups];
        }
    }
    WarpList<rows> list;
    list.clear();
#pragma unroll
    for (int g = 0; g < groups; ++g) {
        list.take(static_cast<Key>(least[g]) << 32 | place[g]);
    }
    return list.at(count - 1);
}

/// `list` with what the part has of nearer candidates. The warp's distances are overwritten. Not
/// inlined: one for all kernels.
template <int rows, int groups>
__device__ __noinline__ WarpList<2> choose_rows(float* distances, int candidates,
                                                PartNumbers numbers, std::uint32_t most, int count,
                                                WarpList<2> list) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const std::uint32_t below = (1U << lane) - 1U;
    WarpList<rows> kept;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        kept.keys[i] = list.keys[i];
    }
    // Numbers of different parts are not in the order of places, so the last that is kept bounds
    // distances alone.
    constexpr Key any_place = 0xFFFFFFFF;
    const Key within = static_cast<Key>(most) << 32 | any_place;
    const Key last = kept.at(count - 1) | any_place;
    Key bound = bound_of<rows, groups>(distances, candidates, count);
    bound = bound < within ? bound : within;
    bound = bound < last ? bound : last;

    // Gathered where distances were that all lanes have read: fewer than 32, and 32 more.
    auto* gathered = reinterpret_cast<Key*>(distances);
    static_assert(SparsePlan::round * sizeof(float) >= 64 * sizeof(Key));
    int held = 0;
#pragma unroll 1
    for (int i = lane; i < candidates; i += SparsePlan::round) {
        std::uint32_t found[SparsePlan::round / 32];
#pragma unroll
        for (int k = 0; k < SparsePlan::round / 32; ++k) {
            found[k] = __float_as_uint(distances[i + 32 * k]);
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < SparsePlan::round / 32; ++k) {
            const Key key =
                static_cast<Key>(found[k]) << 32 | static_cast<std::uint32_t>(i + 32 * k);
            const std::uint32_t near = __ballot_sync(whole_warp, key <= bound);
            if (near == 0) {
                continue;
            }
            if (key <= bound) {
                gathered[held + __popc(near & below)] = key;
            }
            held += __popc(near);
            if (held >= 32) {
                __syncwarp();
                const Key full = gathered[lane];
                const Key rest = gathered[32 + lane];
                held -= 32;
                __syncwarp();
                if (lane < held) {
                    gathered[lane] = rest;
                }
                __syncwarp();
                kept.take(numbered(full, numbers));
            }
        }
    }
    __syncwarp();
    if (held > 0) {
        kept.take(lane < held ? numbered(gathered[lane], numbers) : no_match);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        list.keys[i] = kept.keys[i];
    }
    return list;
}

/// The same for any count; the list's second row is used for more than 32.
__device__ inline WarpList<2> choose(float* distances, int candidates, const PartNumbers& numbers,
                                     std::uint32_t most, int count, const WarpList<2>& list) {
    if (count <= 16) {
        return choose_rows<1, 1>(distances, candidates, numbers, most, count, list);
    }
    if (count <= 32) {
        return choose_rows<1, 2>(distances, candidates, numbers, most, count, list);
    }
    return choose_rows<2, 4>(distances, candidates, numbers, most, count, list);
}

} // namespace runner::match_cuda
