// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/voxels.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <cmath>

namespace runner {
namespace {

constexpr int threads = 256;

__global__ void scale_kernel(std::int64_t count, const float* in, double factor, float* out) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += step) {
        out[i] = static_cast<float>(static_cast<double>(in[i]) * factor);
    }
}

__global__ void stabilise_kernel(std::int64_t count, const float* in, float* out) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += step) {
        const double sum = static_cast<double>(in[i]) + 0.375;
        out[i] = static_cast<float>(2 * __dsqrt_rn(sum > 0 ? sum : 0.0));
    }
}

__global__ void restore_kernel(std::int64_t count, const float* in, float* out) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += step) {
        out[i] = restored_count(in[i]);
    }
}

LaunchShape shape_for(std::int64_t count) {
    constexpr std::int64_t most_blocks = 1 << 16;
    const std::int64_t blocks = std::min(most_blocks, (count + threads - 1) / threads);
    return {dim3(static_cast<unsigned>(blocks)), dim3(threads)};
}

} // namespace

void voxels_to_float(CudaQueue& queue, ElementType type, std::int64_t count, const std::byte* in,
                     float* out) {
    load_elements(queue, type, in, count, out);
}

void voxels_from_float(CudaQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out) {
    store_elements(queue, type, in, count, out);
}

void scale_voxels(CudaQueue& queue, std::int64_t count, const float* in, int exponent, float* out) {
    if (count > 0) {
        launch(queue, shape_for(count), scale_kernel, count, in, std::ldexp(1.0, exponent), out);
    }
}

void stabilise_counts(CudaQueue& queue, std::int64_t count, const float* in, float* out) {
    if (count > 0) {
        launch(queue, shape_for(count), stabilise_kernel, count, in, out);
    }
}

void restore_counts(CudaQueue& queue, std::int64_t count, const float* in, float* out) {
    if (count > 0) {
        launch(queue, shape_for(count), restore_kernel, count, in, out);
    }
}

} // namespace runner
