// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_call.hpp"

#include "base/rounding.hpp"
#include "kernels/match/tensor/match_tensor_bound.cuh"
#include "kernels/match/tensor/match_tensor_exact.cuh"
#include "kernels/match/tensor/match_tensor_products.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <cstddef>
#include <cstdint>

namespace runner {
namespace {

using namespace match_cuda;

/// Distances to all candidates of a block's references come from tensor cores, as products of
/// voxels in half precision. What they leave open gets exact sums: about 25 candidates of 1331
/// where 16 are wanted.
__global__ void __launch_bounds__(TensorRoom::threads, 3)
    tensor_kernel(MatchCall call, SparsePlan plan, TensorDivisors by, std::int64_t first_layer,
                  const float* volume, MatchLists lists) {
    auto& room = *reinterpret_cast<TensorRoom*>(dynamic_shared());
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto warp = static_cast<int>(threadIdx.x / 32);
    const SparseBlock block = sparse_block(call, plan, first_layer);
    const TensorReach reach = tensor_reach(call, block, plan.references);
#pragma unroll
    for (int i = lane; i < TensorShape::columns; i += 32) {
        room.columns[warp].least[i] = __uint_as_float(0x7F800000U);
    }
    read_tensor_tile(call, block, volume, room);
    __syncthreads();
    const TensorScale scale = tensor_scale(call, room);
    const SparseReference reference = sparse_reference(plan, block, warp);
    if (scale.usable) {
        make_halves(scale, room);
        __syncthreads();
        finish_norms(reach, room);
        __syncthreads();
        const TensorGroup group = tensor_group(call, block, room);
        const bool usual =
            reach.window[0] == TensorShape::most_window && group.steps == TensorShape::most_places;
        if (usual) {
            find_least<true>(reach, group, room);
        } else {
            find_least<false>(reach, group, room);
        }
        __syncthreads();
        find_bounds(call, reference, room);
        __syncthreads();
        if (usual) {
            find_near<true>(reach, group, room);
        } else {
            find_near<false>(reach, group, room);
        }
        __syncthreads();
    }
    if (!reference.there) {
        return;
    }
    const int found = scale.usable ? room.near[warp] : TensorShape::most_near + 1;
    const WarpList list = choose_exactly(call, by, tensor_exact(reach, reference), room.voxels,
                                         found, room.columns[warp].near);
    put_tensor_row(call, by, list, reference, block, lists);
}

bool suits(const MatchCall& call) {
    for (int i = 0; i < 3; ++i) {
        if (call.patch[i] != TensorShape::patch || call.window(i) > TensorShape::most_window) {
            return false;
        }
    }
    // A block's fixed part takes as long as exact sums for 500 candidates.
    constexpr std::int64_t least_candidates = 500;
    return call.step <= TensorShape::most_step && call.candidates() >= least_candidates;
}

/// Whether a multiprocessor has room for two blocks; with one alone nothing covers its waiting.
bool fits(CudaQueue& queue) {
    constexpr std::int64_t kept_by_system = 1024; // bytes a block
    constexpr std::int64_t block = sizeof(TensorRoom);
    const auto attribute = [&](cudaDeviceAttr name) {
        int value = 0;
        cuda_call([&] { return cudaDeviceGetAttribute(&value, name, queue.device()); });
        return std::int64_t{value};
    };
    return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= block &&
           attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) >= 2 * (block + kept_by_system);
}

Divisor divisor(std::int64_t value) { return make_divisor(static_cast<std::uint32_t>(value)); }

/// The blocks alone.
SparsePlan make_plan(const MatchCall& call) {
    SparsePlan plan;
    for (int i = 0; i < 3; ++i) {
        plan.references[i] = 2;
        plan.blocks[i] = ceil_divide(call.grid[i], 2);
    }
    plan.by_blocks_x = divisor(plan.blocks[2]);
    plan.by_blocks_y = divisor(plan.blocks[1]);
    plan.by_references_x = divisor(2);
    plan.by_references_y = divisor(2);
    return plan;
}

} // namespace

bool match_tensor(CudaQueue& queue, const MatchCall& call, const float* volume,
                  const MatchLists& lists) {
    if (!suits(call) || !fits(queue)) {
        return false;
    }
    const SparsePlan plan = make_plan(call);
    const std::int64_t a_layer = plan.blocks[1] * plan.blocks[2];
    const double operations =
        static_cast<double>(call.rows()) * call.operations(MatchSelection::fast);
    const TensorDivisors by{divisor(call.window(1) * call.window(2)), divisor(call.window(2)),
                            divisor(TensorShape::layer), divisor(TensorShape::row)};
    const LaunchParts parts{plan.blocks[0], a_layer, operations};
    launch_parts(queue, parts, [&](std::int64_t first, std::int64_t layers) {
        launch(queue,
               {dim3(static_cast<unsigned>(layers * a_layer)), dim3(TensorRoom::threads),
                sizeof(TensorRoom),
                match_kernel_work(call, operations)
                    .share(static_cast<double>(layers) / static_cast<double>(plan.blocks[0]))},
               tensor_kernel, call, plan, by, first, volume, lists);
    });
    return true;
}

} // namespace runner
