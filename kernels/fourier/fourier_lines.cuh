// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "kernels/fourier/fourier_length.hpp"
#include "kernels/queue/block_memory.cuh"
#include "kernels/queue/launch.cuh"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <cuda_runtime.h>

namespace runner::fourier_cuda {

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }

} // namespace runner::fourier_cuda

#include "kernels/fourier/fourier_butterflies-inl.hpp"

namespace runner::fourier_cuda {

/// A line in shared memory: value i is at[i · step].
struct SharedLine {
    float2* at;
    int step;

    __device__ float2& operator[](int i) const { return at[i * step]; }
};

template <int radix> using Radix = std::integral_constant<int, radix>;

/// A pass over a line by `threads` threads, of which this is `thread`; these are at least
/// length / values. Each takes its values into registers before any is written.
template <int radix, int values>
__device__ __forceinline__ void pass_line(const SharedLine& line, int length, const Divisor& before,
                                          const float2* factors, int thread, int threads) {
    constexpr int held = (values + radix - 1) / radix; // butterflies
    const int apart = length / radix;
    ComplexWord<float> x[held][radix];
#pragma unroll
    for (int b = 0; b < held; ++b) {
        // Threads without a butterfly compute another one's: values that branches join are kept
        // from pass to pass, those of all radices, and do not fit the registers.
        const int j = min(thread + b * threads, apart - 1);
        const auto k = static_cast<int>(divide(static_cast<std::uint32_t>(j), before).rest);
#pragma unroll
        for (int r = 0; r < radix; ++r) {
            const float2 value = line[j + r * apart];
            x[b][r] = {value.x, value.y};
            if (r > 0 && before.value > 1) {
                const float2 factor = __ldg(factors + (r - 1) * static_cast<int>(before.value) + k);
                x[b][r] = turned(x[b][r], factor.x, factor.y);
            }
        }
        Butterfly<radix>::transform(x[b]);
    }
    __syncthreads();
#pragma unroll
    for (int b = 0; b < held; ++b) {
        const int j = thread + b * threads;
        if (j < apart) {
            const auto k = static_cast<int>(divide(static_cast<std::uint32_t>(j), before).rest);
            const int first = (j - k) * radix + k;
#pragma unroll
            for (int r = 0; r < radix; ++r) {
                line[first + r * static_cast<int>(before.value)] =
                    make_float2(x[b][r].re, x[b][r].im);
            }
        }
    }
    __syncthreads();
}

/// Transforms a line forward in place. All threads of the block call it, each for its line, of
/// whose `threads` it is `thread`; these are at least length / values. The line is written and the
/// block has waited before; it has waited at the end.
template <int values>
__device__ void transform_line(const FourierPasses& passes, const float2* factors,
                               const SharedLine& line, int thread, int threads) {
    for (int i = 0; i < passes.count; ++i) {
        const Divisor before = passes.before[static_cast<std::size_t>(i)];
        const int radix = passes.radix[static_cast<std::size_t>(i)];
        const auto pass = [&](auto wanted) {
            pass_line<wanted(), values>(line, passes.length, before, factors, thread, threads);
        };
        switch (radix) {
        case 2: pass(Radix<2>()); break;
        case 3: pass(Radix<3>()); break;
        case 4: pass(Radix<4>()); break;
        case 5: pass(Radix<5>()); break;
        case 7: pass(Radix<7>()); break;
        case 8: pass(Radix<8>()); break;
        case 9: pass(Radix<9>()); break;
        case 10: pass(Radix<10>()); break;
        default: pass(Radix<16>()); break;
        }
        factors += before.value > 1 ? (radix - 1) * static_cast<int>(before.value) : 0;
    }
}

/// How lines are divided among blocks: each block takes `lines`, each line has `threads`, each
/// thread `values` values.
struct LineBlocks {
    int values = 8;
    int threads = 1;
    int lines = 1;

    int all_threads() const { return threads * lines; }
    std::size_t shared_bytes(int length) const {
        return static_cast<std::size_t>(length) * static_cast<std::size_t>(lines) * sizeof(float2);
    }
};

inline constexpr int most_block_threads = 1024;

/// Shared memory that a block of the queue's device may have.
inline std::int64_t most_shared_bytes(CudaQueue& queue) {
    queue.make_current();
    int bytes = 0;
    cuda_call([&] {
        return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                      queue.device());
    });
    return bytes;
}

/// The blocks of lines of a length: with `wanted` lines, or fewer that fit.
/// @throws Error (gpu) where none fits.
inline LineBlocks line_blocks(CudaQueue& queue, std::int64_t length, int values, int wanted) {
    const std::int64_t most = most_shared_bytes(queue);
    LineBlocks blocks;
    blocks.values = length > std::int64_t{values} * most_block_threads ? 16 : values;
    blocks.threads = static_cast<int>((length + blocks.values - 1) / blocks.values);
    blocks.lines = wanted;
    const auto fits = [&] {
        return blocks.all_threads() <= most_block_threads &&
               static_cast<std::int64_t>(blocks.shared_bytes(static_cast<int>(length))) <= most;
    };
    while (blocks.lines > 1 && !fits()) {
        blocks.lines /= 2;
    }
    if (!fits()) {
        throw Error(ExitCode::gpu,
                    {"a line is too long for this GPU", "",
                     "its transform has " + std::to_string(length) +
                         " complex numbers, and a block of the GPU has " + std::to_string(most) +
                         " bytes of shared memory",
                     "Use the CPU (run.backend = \"cpu\"), or a GPU with more shared memory"});
    }
    return blocks;
}

} // namespace runner::fourier_cuda
