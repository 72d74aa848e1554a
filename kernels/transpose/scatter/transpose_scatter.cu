// SPDX-License-Identifier: BSD-3-Clause
// The scatter kernel: rows of any length come in as aligned words, whose elements go to their
// places in shared memory one by one; whole output rows leave as one run.
#include "kernels/transpose/scatter/transpose_scatter_plan.hpp"

#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"
#include "kernels/transpose/scatter/transpose_scatter_load.cuh"

namespace runner {
namespace {

using namespace scatter_cuda;

/// The run of `length` bytes, which begins as far beyond a multiple of 16 on both sides: its
/// aligned vectors, and the elements before and after them.
template <int element> __device__ void write_run(std::byte* to, const std::byte* from, int length) {
    const int head = min(static_cast<int>(-beyond(to, 16) & 15U), length);
    const int tail = head + (length - head) / 16 * 16;
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 4
    for (int at = head + 16 * thread; at < tail; at += 16 * threads) {
        *reinterpret_cast<uint4*>(to + at) = *reinterpret_cast<const uint4*>(from + at);
    }
    const int at = element * thread;
    if (at < head) {
        *reinterpret_cast<Word<element>*>(to + at) =
            *reinterpret_cast<const Word<element>*>(from + at);
    }
    if (tail + at < length) {
        *reinterpret_cast<Word<element>*>(to + tail + at) =
            *reinterpret_cast<const Word<element>*>(from + tail + at);
    }
}

template <int element, bool at_words>
__global__ void __launch_bounds__(threads, 5) scatter_kernel(ScatterCall call) {
    const ScatterPlan& plan = call.plan;
    const ScatterTile tile = scatter_tile(call);
    std::byte* shared =
        reinterpret_cast<std::byte*>(dynamic_shared()) + plan.margin * plan.row_bytes();
    shared += (beyond(tile.out, 16) - beyond(shared, 16)) & 15U;
    read_words<element, at_words>(call, tile, shared);
    __syncthreads();
    write_run<element>(tile.out, shared, tile.columns * plan.row_bytes());
}

using ScatterKernel = void (*)(ScatterCall);

ScatterKernel kernel_for(const ScatterPlan& plan) {
    if (plan.element_bytes == 1) {
        return plan.at_words ? scatter_kernel<1, true> : scatter_kernel<1, false>;
    }
    return plan.at_words ? scatter_kernel<2, true> : scatter_kernel<2, false>;
}

} // namespace

void transpose_scattered(CudaQueue& queue, const ScatterPlan& plan, const std::byte* in,
                         std::byte* out) {
    const std::int64_t tiles = (plan.count + plan.across - 1) / plan.across;
    ScatterCall call{};
    call.plan = plan;
    call.in = in;
    call.out = out;
    call.readable = {in, in + (plan.rows - 1) * plan.in_pitch + (plan.c.extent - 1) * plan.c.in +
                             plan.count * plan.element_bytes};
    call.tiles = make_divisor(static_cast<std::uint32_t>(tiles));
    call.in_lanes = make_divisor(static_cast<std::uint32_t>(plan.in_lanes));
    call.in_rows_at_once = threads / plan.in_lanes;
    const KernelWork work{2.0 * static_cast<double>(plan.count * plan.c.extent * plan.row_bytes())};
    launch(queue,
           {dim3(static_cast<unsigned>(tiles * plan.c.extent)), dim3(threads),
            static_cast<std::size_t>(plan.shared_bytes), work},
           kernel_for(plan), call);
}

} // namespace runner
