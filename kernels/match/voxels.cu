// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/voxels.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/elements/elementwise.cuh"
#include "kernels/match/voxels_element.hpp"

#include <cmath>

namespace runner {
namespace {

template <class Change>
__global__ void change_kernel(std::int64_t count, const float* in, Change change, float* out) {
    const std::int64_t step = std::int64_t{gridDim.x} * elementwise_threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * elementwise_threads + threadIdx.x; i < count;
         i += step) {
        out[i] = change(in[i]);
    }
}

template <class Change>
void change_all(CudaQueue& queue, std::int64_t count, const float* in, float* out,
                const Change& change) {
    if (count > 0) {
        launch(queue, strided_shape(count), change_kernel<Change>, count, in, change, out);
    }
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
    change_all(queue, count, in, out, ScaledVoxel{std::ldexp(1.0, exponent)});
}

void stabilise_counts(CudaQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, StabilisedCount());
}

void restore_counts(CudaQueue& queue, std::int64_t count, const float* in, float* out) {
    change_all(queue, count, in, out, RestoredCount());
}

} // namespace runner
