// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_ring.hpp"

#include "kernels/convolve/convolve_ring.cuh"
#include "kernels/convolve/tiling.cuh"

#include <vector>

namespace runner {
namespace {

using namespace convolve_cuda;

template <class T>
__global__ void __launch_bounds__(256)
    convolve_ring_kernel(const __grid_constant__ RingArguments<T> arguments) {
    extern __shared__ __align__(128) unsigned char shared[];
    const ConvolveTile tile(arguments.view, arguments.view.first_tile + blockIdx.x,
                            arguments.width);
    Ring<T>(arguments, tile, reinterpret_cast<T*>(shared)).run();
}

/// The widest strip whose shared memory a block of threads may have.
template <class T> int strip_width(int device, int row_radius, int column_radius) {
    int limit = 0;
    cuda_call([&] {
        return cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    });
    int width = 128;
    while (width > 8 && RingShape<T>::shared_bytes(width, row_radius, column_radius) > limit) {
        width /= 2;
    }
    return width;
}

} // namespace

template <class T>
void convolve_ring(CudaQueue& queue, const ConvolveView<T>& view, std::int64_t frames,
                   ElementType in_type, ElementType out_type, const std::vector<T>& row_taps,
                   const std::vector<T>& column_taps) {
    const auto row_radius = static_cast<int>(row_taps.size() / 2);
    const auto column_radius = static_cast<int>(column_taps.size() / 2);
    const int width = strip_width<T>(queue.device(), row_radius, column_radius);
    launch_tiles(queue, convolve_ring_kernel<T>, 2 * width,
                 RingShape<T>::shared_bytes(width, row_radius, column_radius), width,
                 segment_cut<T>(column_radius), frames,
                 image_work(view, frames, size_of(in_type), size_of(out_type),
                            static_cast<std::int64_t>(row_taps.size() + column_taps.size())),
                 ring_arguments(view, in_type, out_type, row_taps, column_taps, width));
}

template void convolve_ring(CudaQueue&, const ConvolveView<float>&, std::int64_t, ElementType,
                            ElementType, const std::vector<float>&, const std::vector<float>&);
template void convolve_ring(CudaQueue&, const ConvolveView<double>&, std::int64_t, ElementType,
                            ElementType, const std::vector<double>&, const std::vector<double>&);

} // namespace runner
