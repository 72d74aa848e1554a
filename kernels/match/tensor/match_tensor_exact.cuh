// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/tensor/match_tensor_tile.cuh"

namespace runner::match_cuda {

/// Divides what is known of candidates.
struct TensorDivisors {
    Divisor by_layer; ///< numbers in a window
    Divisor by_line;
    Divisor by_voxels_layer; ///< places among the voxels
    Divisor by_voxels_row;
};

/// A reference whose candidates get exact sums.
struct TensorExact {
    int window[3];
    int corner; ///< the place of its window among the voxels
    int low[3]; ///< first candidate in the volume, and past the last, along each axis
    int high[3];

    /// The number of the candidate at this place.
    __device__ std::uint32_t number(const TensorDivisors& by, int place) const {
        // The window begins at `corner`; no difference carries over from one axis to the next.
        const Divided z = divide(static_cast<std::uint32_t>(place - corner), by.by_voxels_layer);
        const Divided y = divide(z.rest, by.by_voxels_row);
        return (z.quotient * static_cast<std::uint32_t>(window[1]) + y.quotient) *
                   static_cast<std::uint32_t>(window[2]) +
               y.rest;
    }

    /// The place of a candidate, or −1 where it is not in the volume.
    __device__ int place(const TensorDivisors& by, std::uint32_t number) const {
        const Divided z = divide(number, by.by_layer);
        const Divided y = divide(z.rest, by.by_line);
        const int at[3] = {static_cast<int>(z.quotient), static_cast<int>(y.quotient),
                           static_cast<int>(y.rest)};
        bool there = true;
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            there = there && at[i] >= low[i] && at[i] < high[i];
        }
        return there ? corner + at[0] * TensorShape::layer + at[1] * TensorShape::row + at[2] : -1;
    }
};

/// D of 8 candidates, in the order of match.hpp, for all four lanes of each. Lane 4 · i + x has
/// `own`, the plane x of the reference's patch; `from` is that of candidate i.
__device__ inline float exact_sum(const float (&own)[16], const float* from) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    float line = 0;
#pragma unroll
    for (int y = 0; y < TensorShape::patch; ++y) {
        float square = 0;
#pragma unroll
        for (int z = 0; z < TensorShape::patch; ++z) {
            const float e =
                __fsub_rn(own[4 * y + z], from[z * TensorShape::layer + y * TensorShape::row]);
            square = z == 0 ? __fmul_rn(e, e) : __fmaf_rn(e, e, square);
        }
        line = y == 0 ? square : __fadd_rn(line, square);
    }
    float sum = __shfl_sync(whole_warp, line, lane & ~3);
#pragma unroll
    for (int x = 1; x < TensorShape::patch; ++x) {
        sum = __fadd_rn(sum, __shfl_sync(whole_warp, line, (lane & ~3) + x));
    }
    return sum;
}

__device__ inline TensorExact tensor_exact(const TensorReach& reach,
                                           const SparseReference& reference) {
    TensorExact exact;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        exact.window[i] = reach.window[i];
        exact.low[i] = reach.low[i] - reference.ahead[i];
        exact.high[i] = reach.high[i] - reference.ahead[i];
    }
    exact.corner = reference.ahead[0] * TensorShape::layer + reference.ahead[1] * TensorShape::row +
                   reference.ahead[2];
    return exact;
}

/// The matches of a reference: of the `found` candidates that are near or, if these are too many,
/// of all of the window.
__device__ inline WarpList choose_exactly(const MatchCall& call, const TensorDivisors& by,
                                          const TensorExact& exact, const float* voxels, int found,
                                          const std::uint16_t* near) {
    const bool all = found > TensorShape::most_near;
    const int candidates = all ? exact.window[0] * exact.window[1] * exact.window[2] : found;
    constexpr Key any_place = 0xFFFFFFFF;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const Key most = static_cast<Key>(__float_as_uint(call.most)) << 32 | any_place;
    const float* patch = voxels + exact.corner +
                         static_cast<int>(call.half[0]) * TensorShape::layer +
                         static_cast<int>(call.half[1]) * TensorShape::row +
                         static_cast<int>(call.half[2]) + lane % 4;
    float own[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        own[i] = patch[i % 4 * TensorShape::layer + i / 4 * TensorShape::row];
    }
    WarpList list;
    list.clear();
#pragma unroll 1
    for (int first = 0; first < candidates; first += 32) {
        // A candidate a lane.
        const int i = first + lane;
        int place = -1;
        auto number = static_cast<std::uint32_t>(i);
        if (i < candidates) {
            place = all ? exact.place(by, number) : near[i];
            number = all ? number : exact.number(by, place);
        }
        float distance = __uint_as_float(0x7FFFFFFFU);
#pragma unroll 1
        for (int eight = 0; eight < 4 && first + 8 * eight < candidates; ++eight) {
            const int from = max(__shfl_sync(whole_warp, place, 8 * eight + lane / 4), 0);
            const float sum = exact_sum(own, voxels + from + lane % 4);
            const float mine = __shfl_sync(whole_warp, sum, lane % 8 * 4);
            distance = lane / 8 == eight ? mine : distance;
        }
        const Key key = key_of(distance, number);
        const Key last = list.at(call.count - 1);
        const bool nearer = place >= 0 && key <= most && key < last;
        if (first == 0) {
            list.keys[0] = sort_lanes(nearer ? key : no_match);
        } else if (__any_sync(whole_warp, nearer)) {
            list.take(nearer ? key : no_match);
        }
        // All candidates come by their numbers, so after a list of zeros none is better.
        if (all && list.at(call.count - 1) >> 32 == 0) {
            break;
        }
    }
    return list;
}

/// put_row() with fewer instructions.
__device__ inline void put_tensor_row(const MatchCall& call, const TensorDivisors& by,
                                      const WarpList& list, const SparseReference& reference,
                                      const SparseBlock& block, const MatchLists& lists) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t row = reference_row(call, reference, block);
    std::int64_t corner[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        corner[i] = block.at[i] + reference.ahead[i] - call.half[i];
    }
    const std::int64_t first = call.index(corner[0], corner[1], corner[2]);
    int found = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const bool mine = 32 * i + lane < call.count && list.keys[i] != no_match;
        found += __popc(__ballot_sync(whole_warp, mine));
    }
    const bool turned = call.order == MatchOrder::nearest_last;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int place = 32 * i + lane;
        if (place < call.count) {
            const bool there = place < found;
            const Divided z = divide(static_cast<std::uint32_t>(list.keys[i]), by.by_layer);
            const Divided y = divide(z.rest, by.by_line);
            const std::int64_t index = first + call.index(z.quotient, y.quotient, y.rest);
            const std::int64_t to =
                row * call.count + (turned && there ? found - 1 - place : place);
            lists.index[to] = there ? static_cast<std::uint64_t>(index) : ~std::uint64_t{0};
            // Exact, as division by a power of two is.
            lists.distance[to] =
                there ? distance_of(list.keys[i]) * (1.0F / 64) : __uint_as_float(0x7F800000U);
        }
    }
    if (lane == 0) {
        lists.count[row] = found;
    }
}

} // namespace runner::match_cuda
