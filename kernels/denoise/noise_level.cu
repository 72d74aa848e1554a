// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/denoise/noise_level.hpp"

#include "kernels/denoise/haar_cubes.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>

namespace runner {
namespace {

constexpr int threads = 256;

__global__ void count_kernel(HaarCubes cubes, const float* in, unsigned long long* bins) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
         i < cubes.all(); i += step) {
        if (cubes.is_constant(in, i)) {
            continue;
        }
        const std::uint32_t magnitude = __float_as_uint(cubes.coefficient(in, i)) & 0x7FFFFFFFU;
        atomicAdd(bins + (magnitude >> 11), 1ULL);
    }
}

} // namespace

void count_haar(CudaQueue& queue, const std::array<std::int64_t, 3>& volume,
                const HaarLayers& layers, const float* in, std::uint64_t* bins) {
    const HaarCubes cubes = make_haar_cubes(volume, layers);
    if (cubes.all() == 0) {
        return;
    }
    constexpr std::int64_t most_blocks = 1 << 16;
    const std::int64_t blocks = std::min(most_blocks, (cubes.all() + threads - 1) / threads);
    launch(queue, {dim3(static_cast<unsigned>(blocks)), dim3(threads)}, count_kernel, cubes, in,
           reinterpret_cast<unsigned long long*>(bins));
}

} // namespace runner
