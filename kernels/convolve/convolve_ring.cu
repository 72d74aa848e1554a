// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_ways.hpp"

#include "kernels/convolve/convolve_ring.cuh"
#include "kernels/convolve/tiling.cuh"

#include <vector>

namespace runner {
namespace {

using namespace convolve_cuda;

template <class Shape>
__global__ void __launch_bounds__(Shape::threads(128))
    convolve_ring_kernel(const __grid_constant__ RingCall<typename Shape::Value> call) {
    extern __shared__ __align__(128) unsigned char shared[];
    const ConvolveTile tile(call.images, call.images.first_tile + blockIdx.x,
                            Shape::width > 0 ? Shape::width : call.width);
    Ring<Shape>(call, tile, reinterpret_cast<typename Shape::Value*>(shared)).run();
}

/// The kernel of one layout, and what it is launched with.
template <class T> struct RingLaunch {
    void (*kernel)(RingCall<T>);
    int width;
    int threads;
    int shared_bytes;
};

template <class Shape>
RingLaunch<typename Shape::Value> ring_launch(int width, int row_radius, int column_radius) {
    return {convolve_ring_kernel<Shape>, width, Shape::threads(width),
            Shape::shared_bytes(width, row_radius, column_radius)};
}

/// Batches of 32 rows take less time from a radius of about 24 on, where one block has the shared
/// memory of a multiprocessor.
template <class T> RingLaunch<T> choose_ring(int device, int row_radius, int column_radius) {
    int limit = 0;
    cuda_call([&] {
        return cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    });
    constexpr int width = sizeof(T) == 4 ? 128 : 64;
    RingLaunch<T> ring =
        column_radius <= 24
            ? ring_launch<RingShape<T, 128, 16>>(128, row_radius, column_radius)
            : ring_launch<RingShape<T, width, 32>>(width, row_radius, column_radius);
    for (int any = 128; ring.shared_bytes > limit && any >= 8; any /= 2) {
        ring = ring_launch<RingShape<T, 0, 16>>(any, row_radius, column_radius);
    }
    return ring;
}

} // namespace

template <class T>
void convolve_ring(CudaQueue& queue, const ConvolveImages<T>& images, std::int64_t frames,
                   ElementType in_type, ElementType out_type, const std::vector<T>& row_taps,
                   const std::vector<T>& column_taps) {
    const auto row_radius = static_cast<int>(row_taps.size() / 2);
    const auto column_radius = static_cast<int>(column_taps.size() / 2);
    const RingLaunch<T> ring = choose_ring<T>(queue.device(), row_radius, column_radius);
    launch_tiles(queue, ring.kernel, ring.threads, ring.shared_bytes, ring.width,
                 segment_cut<T>(column_radius), frames,
                 image_work(images, frames, size_of(in_type), size_of(out_type),
                            static_cast<std::int64_t>(row_taps.size() + column_taps.size())),
                 ring_call(images, in_type, out_type, row_taps, column_taps, ring.width));
}

template void convolve_ring(CudaQueue&, const ConvolveImages<float>&, std::int64_t, ElementType,
                            ElementType, const std::vector<float>&, const std::vector<float>&);
template void convolve_ring(CudaQueue&, const ConvolveImages<double>&, std::int64_t, ElementType,
                            ElementType, const std::vector<double>&, const std::vector<double>&);

} // namespace runner
