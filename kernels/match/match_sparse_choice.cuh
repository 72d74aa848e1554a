// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_sparse_plan.hpp"
#include "kernels/match/match_warp_list.cuh"
#include "kernels/queue/divisor.hpp"

namespace runner::match_cuda {

/// From a candidate's place among the distances of a part to its number in the window.
struct PartNumbers {
    Divisor by_columns;
    Divisor by_part_x;
    std::uint32_t first;        ///< number of the part's first candidate
    std::uint32_t stride_along; ///< numbers from one candidate to the next along this axis
    std::uint32_t stride_other;
    Key ties; ///< what is taken off a key for which later candidates may not have its distance
};

__device__ inline PartNumbers part_numbers(const MatchCall& call, const SparsePlan& plan,
                                           const std::int64_t (&start)[3]) {
    const auto wide = static_cast<std::uint32_t>(call.window(2));
    const std::uint32_t layer = wide * static_cast<std::uint32_t>(call.window(1));
    return {plan.by_columns,
            plan.by_part_x,
            static_cast<std::uint32_t>(start[0]) * layer +
                static_cast<std::uint32_t>(start[1]) * wide + static_cast<std::uint32_t>(start[2]),
            plan.along == 0 ? layer : wide,
            plan.along == 0 ? wide : layer,
            plan.whole ? Key{1} << 32 : 0};
}

/// The key of a candidate by its number in the window, from that by its place in the part.
__device__ inline Key numbered(Key key, const PartNumbers& numbers) {
    const Divided along = divide(static_cast<std::uint32_t>(key), numbers.by_columns);
    const Divided other = divide(along.rest, numbers.by_part_x);
    const std::uint32_t number = numbers.first + along.quotient * numbers.stride_along +
                                 other.quotient * numbers.stride_other + other.rest;
    return (key & ~Key{0xFFFFFFFF}) | number;
}

/// A key that `count` ≤ 32 candidates of the part do not exceed, and not many more: of the least
/// of every lane the last that is wanted.
__device__ inline Key bound_of(const float* distances, int candidates, int count) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    auto least = static_cast<std::uint32_t>(no_match >> 32);
    auto place = static_cast<std::uint32_t>(no_match);
#pragma unroll 2
    for (int i = lane; i < candidates; i += SparsePlan::round) {
#pragma unroll
        for (int k = 0; k < SparsePlan::round / 32; ++k) {
            const std::uint32_t found = __float_as_uint(distances[i + 32 * k]);
            const bool less = found < least;
            least = less ? found : least;
            place = less ? static_cast<std::uint32_t>(i + 32 * k) : place;
        }
    }
    const Key sorted = sort_lanes(static_cast<Key>(least) << 32 | place);
    return __shfl_sync(whole_warp, sorted, count - 1);
}

/// `list` with what the part has of nearer candidates, of which no more than `count` matter.
/// `gathered` has room for SparsePlan::gathered keys.
__device__ __noinline__ WarpList choose(const float* distances, Key* gathered, int candidates,
                                        PartNumbers numbers, std::uint32_t most, int count,
                                        WarpList list) {
    constexpr int rows = SparsePlan::round / 32;
    constexpr Key any_place = 0xFFFFFFFF;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const std::uint32_t below = (1U << lane) - 1U;
    Key bound = static_cast<Key>(most) << 32 | any_place;
    const auto lower = [&bound](Key to) { bound = to < bound ? to : bound; };
    // Candidates come by their numbers, so later ones as far as the last of the list are no better;
    // but the numbers of another part may be less.
    const auto lower_to_last = [&] { lower((list.at(count - 1) | any_place) - numbers.ties); };
    lower_to_last();
    if (count <= 32) {
        lower(bound_of(distances, candidates, count));
    }
    int held = 0;
#pragma unroll 1
    for (int i = lane; i < candidates; i += SparsePlan::round) {
        Key keys[rows];
        std::uint32_t near[rows];
        std::uint32_t any = 0;
#pragma unroll
        for (int k = 0; k < rows; ++k) {
            keys[k] = static_cast<Key>(__float_as_uint(distances[i + 32 * k])) << 32 |
                      static_cast<std::uint32_t>(i + 32 * k);
            near[k] = __ballot_sync(whole_warp, keys[k] <= bound);
            any |= near[k];
        }
        // A row always has room where fewer than 32 keys are held.
        while (any != 0) {
            any = 0;
#pragma unroll
            for (int k = 0; k < rows; ++k) {
                if (held + __popc(near[k]) <= SparsePlan::gathered) {
                    if ((near[k] >> lane & 1U) != 0) {
                        gathered[held + __popc(near[k] & below)] = keys[k];
                    }
                    held += __popc(near[k]);
                    near[k] = 0;
                }
                any |= near[k];
            }
            __syncwarp();
            while (held >= 32) {
                held -= 32;
                list.take(numbered(gathered[held + lane], numbers));
                lower_to_last();
            }
            __syncwarp();
        }
    }
    if (held > 0) {
        list.take(lane < held ? numbered(gathered[lane], numbers) : no_match);
    }
    __syncwarp(); // the next call writes where lanes have just read
    return list;
}

} // namespace runner::match_cuda
