// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_sparse_plan.hpp"
#include "kernels/match/match_warp_list.cuh"
#include "kernels/queue/divisor.hpp"

namespace runner::match_cuda {

/// Where a block's references begin.
struct SparseBlock {
    std::int64_t index[3]; ///< of the first, among this call's references
    std::int64_t at[3];    ///< its corner
    int there[3];          ///< references; blocks at the end of an axis have fewer
    int reach[3];          ///< from its corner to the last one of the volume, or far
    int step;              ///< the same between references
};

__device__ inline SparseBlock sparse_block(const MatchCall& call, const SparsePlan& plan,
                                           std::int64_t first_layer) {
    // More than between any two references of a block, since shared memory holds what is between;
    // its product with their number is an int.
    constexpr std::int64_t far = 1 << 24;
    const Divided x = divide(blockIdx.x, plan.by_blocks_x);
    const Divided y = divide(x.quotient, plan.by_blocks_y);
    const std::int64_t number[3] = {first_layer + y.quotient, y.rest, x.rest};
    SparseBlock block;
    block.step = static_cast<int>(min(call.step, far));
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        block.index[i] = number[i] * plan.references[i];
        block.at[i] = call.reference(i, block.index[i]);
        block.there[i] = static_cast<int>(min(call.grid[i] - block.index[i], far));
        block.reach[i] = static_cast<int>(min(call.corner[i] - block.at[i], far));
    }
    return block;
}

/// One of a block's references.
struct SparseReference {
    int number[3]; ///< from the block's first
    int ahead[3];  ///< its corner, from that of the block's first
    bool there;
};

__device__ inline SparseReference sparse_reference(const SparsePlan& plan, const SparseBlock& block,
                                                   int number) {
    const Divided x = divide(static_cast<std::uint32_t>(number), plan.by_references_x);
    const Divided y = divide(x.quotient, plan.by_references_y);
    SparseReference reference;
    reference.number[0] = static_cast<int>(y.quotient);
    reference.number[1] = static_cast<int>(y.rest);
    reference.number[2] = static_cast<int>(x.rest);
    reference.there = true;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        reference.there = reference.there && reference.number[i] < block.there[i];
        reference.ahead[i] = min(reference.number[i] * block.step, block.reach[i]);
    }
    return reference;
}

/// The row of a reference in the lists.
__device__ inline std::int64_t
reference_row(const MatchCall& call, const SparseReference& reference, const SparseBlock& block) {
    return ((block.index[0] + reference.number[0]) * call.grid[1] + block.index[1] +
            reference.number[1]) *
               call.grid[2] +
           block.index[2] + reference.number[2];
}

/// Writes out the row of a reference.
__device__ inline void put_row(const MatchCall& call, const WarpList& list,
                               const SparseReference& reference, const SparseBlock& block,
                               const MatchLists& lists) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t row = reference_row(call, reference, block);
    const std::int64_t at[3] = {block.at[0] + reference.ahead[0], block.at[1] + reference.ahead[1],
                                block.at[2] + reference.ahead[2]};
    int found = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const bool mine = 32 * i + lane < call.count && list.keys[i] != no_match;
        found += __popc(__ballot_sync(whole_warp, mine));
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        if (32 * i + lane < call.count) {
            put_match(call, list.keys[i], 32 * i + lane, found, row, at, lists);
        }
    }
    if (lane == 0) {
        lists.count[row] = found;
    }
}

} // namespace runner::match_cuda
