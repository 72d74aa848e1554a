// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fourier/fourier.hpp"

#include "kernels/fourier/fourier_lines.cuh"

namespace runner {
namespace {

using fourier_cuda::LineBlocks;
using fourier_cuda::most_block_threads;
using fourier_cuda::SharedLine;

/// A block takes blockDim.y lines.
template <int values>
__global__ void __launch_bounds__(most_block_threads, 1)
    lines_kernel(FourierPasses passes, bool is_forward, std::int64_t lines, const float2* in,
                 float2* out, const float2* factors) {
    auto* const shared = reinterpret_cast<float2*>(dynamic_shared());
    const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    const SharedLine line{shared + threadIdx.y * passes.length, 1};
    const bool is_there = number < lines;
    const auto thread = static_cast<int>(threadIdx.x);
    const auto threads = static_cast<int>(blockDim.x);
    for (int i = thread; is_there && i < passes.length; i += threads) {
        const float2 value = in[number * passes.length + i];
        line[i] = is_forward ? value : make_float2(value.y, value.x);
    }
    __syncthreads();
    fourier_cuda::transform_line<values>(passes, factors, line, thread, threads);
    for (int i = thread; is_there && i < passes.length; i += threads) {
        const float2 value = line[i];
        out[number * passes.length + i] = is_forward ? value : make_float2(value.y, value.x);
    }
}

} // namespace

void transform_lines(CudaQueue& queue, const FourierPasses& passes, FourierWay way,
                     std::int64_t lines, const ComplexFloat* in, ComplexFloat* out,
                     const ComplexFloat* factors) {
    if (lines == 0) {
        return;
    }
    const LineBlocks blocks = fourier_cuda::line_blocks(queue, passes.length, 8, 8);
    const std::int64_t grid = (lines + blocks.lines - 1) / blocks.lines;
    const LaunchShape shape{
        dim3(static_cast<unsigned>(grid)),
        dim3(static_cast<unsigned>(blocks.threads), static_cast<unsigned>(blocks.lines)),
        blocks.shared_bytes(passes.length)};
    const auto start = [&](auto kernel) {
        launch(queue, shape, kernel, passes, way == FourierWay::forward, lines,
               reinterpret_cast<const float2*>(in), reinterpret_cast<float2*>(out),
               reinterpret_cast<const float2*>(factors));
    };
    blocks.values == 8 ? start(lines_kernel<8>) : start(lines_kernel<16>);
}

} // namespace runner
