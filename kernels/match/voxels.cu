// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/voxels.hpp"

#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

constexpr int threads = 256;

template <class T> __global__ void to_float_kernel(std::int64_t count, const T* in, float* out) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += step) {
        out[i] = static_cast<float>(in[i]);
    }
}

template <class T> __global__ void from_float_kernel(std::int64_t count, const float* in, T* out) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += step) {
        if constexpr (std::is_floating_point_v<T>) {
            out[i] = in[i];
        } else {
            constexpr auto most = static_cast<float>(std::numeric_limits<T>::max());
            out[i] = static_cast<T>(__float2uint_rn(fminf(fmaxf(in[i], 0.0F), most)));
        }
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
    visit_voxel_type(type, [&](auto zero) {
        using T = decltype(zero);
        if (count > 0) {
            launch(queue, shape_for(count), to_float_kernel<T>, count,
                   reinterpret_cast<const T*>(in), out);
        }
    });
}

void voxels_from_float(CudaQueue& queue, ElementType type, std::int64_t count, const float* in,
                       std::byte* out) {
    visit_voxel_type(type, [&](auto zero) {
        using T = decltype(zero);
        if (count > 0) {
            launch(queue, shape_for(count), from_float_kernel<T>, count, in,
                   reinterpret_cast<T*>(out));
        }
    });
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
