// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/match/match_sparse_block.cuh"
#include "kernels/match/match_sparse_choice.cuh"
#include "kernels/match/match_sparse_plan.hpp"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/divisor.hpp"

namespace runner::match_cuda {

/// The patches of a warp's references; a line along `along` is one lane's.
template <int along, int patch>
__device__ void read_patches(const MatchCall& call, const SparsePlan& plan,
                             const SparseBlock& block, const float* volume, float* own) {
    constexpr int other = 1 - along;
    const std::int64_t layer = call.volume[1] * call.volume[2];
    const std::int64_t stride[2] = {layer, call.volume[2]};
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto first = static_cast<int>(threadIdx.x / 32) * plan.warp_references;
    for (int r = first; r < first + plan.warp_references; ++r) {
        const SparseReference reference = sparse_reference(plan, block, r);
        if (!reference.there) {
            continue;
        }
        const float* from = volume + (block.at[0] + reference.ahead[0] - call.in_first) * layer +
                            (block.at[1] + reference.ahead[1]) * call.volume[2] + block.at[2] +
                            reference.ahead[2];
        for (int i = lane; i < call.patch[other] * call.patch[2]; i += 32) {
            const float* line =
                from + i / call.patch[other] + i % call.patch[other] * stride[other];
            float* to = own + r * plan.own + i * sparse_own_pitch(patch);
#pragma unroll
            for (int k = 0; k < patch; ++k) {
                to[k] = __ldg(line + k * stride[along]);
            }
        }
    }
}

/// The voxels of a part; what lies outside of the buffer belongs to no candidate, and sums with it
/// are not numbers. `start` is the part's first place in the window.
template <int along>
__device__ void read_tile(const MatchCall& call, const SparsePlan& plan, const SparseBlock& block,
                          const std::int64_t (&start)[3], const float* volume, float* voxels) {
    constexpr int other = 1 - along;
    const std::int64_t stride[3] = {call.volume[1] * call.volume[2], call.volume[2], 1};
    const std::int64_t begin[3] = {call.in_first, 0, 0};
    const std::int64_t extent[3] = {call.in_layers, call.volume[1], call.volume[2]};
    std::int64_t corner = 0; // of the tile in the buffer
    int low[3];
    int high[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const std::int64_t from = block.at[i] - call.half[i] + start[i] - begin[i];
        const std::int64_t most = plan.tile[i];
        corner += from * stride[i];
        low[i] = static_cast<int>(min(max(-from, std::int64_t{0}), most));
        high[i] = static_cast<int>(min(max(extent[i] - from, std::int64_t{0}), most));
    }
    const int all = plan.tile[0] * plan.tile[1] * plan.tile[2];
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) {
        const Divided in_line = divide(static_cast<std::uint32_t>(i), plan.by_tile_x);
        const Divided lines = divide(in_line.quotient, plan.by_tile_other);
        const auto x = static_cast<int>(in_line.rest);
        const auto o = static_cast<int>(lines.rest);
        const auto a = static_cast<int>(lines.quotient);
        const bool there = x >= low[2] && x < high[2] && o >= low[other] && o < high[other] &&
                           a >= low[along] && a < high[along];
        const std::int64_t from = corner + a * stride[along] + o * stride[other] + x;
        voxels[o * plan.pitch_line + x * plan.pitch_x + a] =
            there ? __ldg(volume + from) : __uint_as_float(0x7FC00000U);
    }
}

/// A line of a reference's patch, as few loads.
template <int patch> __device__ inline void read_line(const float* own, float (&line)[patch]) {
    if constexpr (patch <= 2) {
#pragma unroll
        for (int i = 0; i < patch; ++i) {
            line[i] = own[i];
        }
    } else {
#pragma unroll
        for (int i = 0; i < patch; i += 4) {
            const float4 four = *reinterpret_cast<const float4*>(own + i);
            const float at[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int k = i; k < patch && k < i + 4; ++k) {
                line[k] = at[k - i];
            }
        }
    }
}

/// D of the candidates that begin at `from` and the next ones along `along`, in the order of
/// match.hpp. Sums begin with 0, to which a square adds nothing but itself.
template <int along, int patch, int each>
__device__ inline void column_sums(const MatchCall& call, const SparsePlan& plan, const float* own,
                                   const float* from, float (&sum)[each]) {
    constexpr int other = 1 - along;
    constexpr int pitch = sparse_own_pitch(patch);
    const int high = call.patch[other];
#pragma unroll
    for (int c = 0; c < each; ++c) {
        sum[c] = 0;
    }
#pragma unroll 1
    for (int x = 0; x < call.patch[2]; ++x) {
        float line[each];
#pragma unroll
        for (int c = 0; c < each; ++c) {
            line[c] = 0;
        }
        const float* at = from + x * plan.pitch_x;
#pragma unroll 1
        for (int y = 0; y < high; ++y, at += plan.pitch_line, own += pitch) {
            float a[patch];
            float b[each + patch - 1];
            read_line<patch>(own, a);
#pragma unroll
            for (int i = 0; i < each + patch - 1; ++i) {
                b[i] = at[i];
            }
#pragma unroll
            for (int c = 0; c < each; ++c) {
                float e = __fsub_rn(a[0], b[c]);
                float square = __fmul_rn(e, e);
#pragma unroll
                for (int i = 1; i < patch; ++i) {
                    e = __fsub_rn(a[i], b[c + i]);
                    square =
                        along == 0 ? __fmaf_rn(e, e, square) : __fadd_rn(square, __fmul_rn(e, e));
                }
                line[c] = __fadd_rn(line[c], square);
            }
        }
#pragma unroll
        for (int c = 0; c < each; ++c) {
            sum[c] = __fadd_rn(sum[c], line[c]);
        }
    }
}

/// Distances of the candidates of a part for all references of this warp, not a number for those
/// outside of the window, which has `left` candidates from the part's first.
template <int along, int patch, int each>
__device__ void fill_distances(const MatchCall& call, const SparsePlan& plan,
                               const SparseBlock& block, const int (&left)[3], const float* own,
                               const float* voxels, float* distances) {
    constexpr int other = 1 - along;
    const float nothing = __uint_as_float(0x7FFFFFFFU);
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto first = static_cast<int>(threadIdx.x / 32) * plan.warp_references;
    for (int i = lane; i < plan.items; i += 32) {
        const Divided in_warp = divide(static_cast<std::uint32_t>(i), plan.by_items);
        const Divided piece = divide(in_warp.rest, plan.by_columns);
        const Divided column = divide(piece.rest, plan.by_part_x);
        const int r = first + static_cast<int>(in_warp.quotient);
        const int a = static_cast<int>(piece.quotient) * each;
        const auto o = static_cast<int>(column.quotient);
        const auto x = static_cast<int>(column.rest);
        const SparseReference reference = sparse_reference(plan, block, r);
        if (!reference.there) {
            continue;
        }
        float sum[each];
        column_sums<along, patch, each>(call, plan, own + r * plan.own,
                                        voxels + (reference.ahead[other] + o) * plan.pitch_line +
                                            (reference.ahead[2] + x) * plan.pitch_x +
                                            reference.ahead[along] + a,
                                        sum);
        const int live = o < left[other] && x < left[2] ? left[along] - a : 0;
        float* to =
            distances + r * plan.distances + a * plan.columns + static_cast<int>(piece.rest);
#pragma unroll
        for (int c = 0; c < each; ++c) {
            to[c * plan.columns] = c < live ? sum[c] : nothing;
        }
    }
    const int filled = plan.part[0] * plan.part[1] * plan.part[2];
    for (int r = first; r < first + plan.warp_references; ++r) {
        for (int i = filled + lane; i < plan.distances; i += 32) {
            distances[r * plan.distances + i] = nothing;
        }
    }
}

/// Any step: a part of the volume in shared memory serves all references of a block, a warp has a
/// few of them. A lane has a column of candidates, whose sums share what they read; distances go to
/// shared memory, of which the warp chooses. Windows that are too large for that are searched part
/// by part.
template <int along, int patch, int each>
__global__ void __launch_bounds__(32 * SparsePlan::most_warps, 3)
    sparse_kernel(MatchCall call, SparsePlan plan, std::int64_t first_layer, const float* volume,
                  MatchLists lists) {
    auto* own = reinterpret_cast<float*>(dynamic_shared());
    const auto warp = static_cast<int>(threadIdx.x / 32);
    Key* gathered = reinterpret_cast<Key*>(own + plan.own_floats) + warp * SparsePlan::gathered;
    float* distances = own + plan.own_floats + plan.gathered_floats;
    float* voxels = distances + plan.distance_floats;
    const SparseBlock block = sparse_block(call, plan, first_layer);
    const int first = warp * plan.warp_references;
    read_patches<along, patch>(call, plan, block, volume, own);
    WarpList list;
    list.clear();
    std::int64_t start[3] = {0, 0, 0};
    for (bool more = true; more;) {
        if (start[0] + start[1] + start[2] > 0) {
            __syncthreads();
        }
        read_tile<along>(call, plan, block, start, volume, voxels);
        __syncthreads();
        int left[3];
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            left[i] = static_cast<int>(
                min(call.window(i) - start[i], static_cast<std::int64_t>(plan.part[i])));
        }
        fill_distances<along, patch, each>(call, plan, block, left, own, voxels, distances);
        __syncwarp();
        const PartNumbers numbers = part_numbers(call, plan, start);
        more = false;
#pragma unroll
        for (int i = 2; i >= 0; --i) {
            if (!more) {
                start[i] += plan.part[i];
                more = start[i] < call.window(i);
                start[i] = more ? start[i] : 0;
            }
        }
        for (int r = first; r < first + plan.warp_references; ++r) {
            const SparseReference reference = sparse_reference(plan, block, r);
            if (!reference.there) {
                continue;
            }
            list = choose(distances + r * plan.distances, gathered, plan.distances, numbers,
                          __float_as_uint(call.most), call.count, list);
            if (!more) {
                put_row(call, list, reference, block, lists);
                list.clear();
            }
        }
    }
}

} // namespace runner::match_cuda
