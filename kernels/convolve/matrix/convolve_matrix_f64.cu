// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_ring.cuh"
#include "kernels/convolve/convolve_ways.hpp"
#include "kernels/convolve/matrix/convolve_matrix.cuh"
#include "kernels/convolve/push/convolve_push.cuh"
#include "kernels/convolve/tiling.cuh"
#include "kernels/queue/cuda_call.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace runner {
namespace {

using namespace convolve_cuda;

/// What makes rows again that the matrix kernel cannot: the push kernel for columns of radius R − 3
/// to R, the ring kernel for others. R 12 is not used for these: memory bounds other kernels too.
template <int R> constexpr bool has_push = R <= 32;
template <int R> constexpr bool has_ring = R >= 16;

template <int R>
using ExactPush = Push<double, R, PushLayout<MatrixShape<R>::width, 1, 8, 16, 2, 2, 1, 2>, double,
                       double, SharedColumnsCall<R>, true>;

template <int R> using ExactRing = RingShape<double, MatrixShape<R>::width, 16>;

template <int R> constexpr int shared_bytes() {
    int most = Matrix<R>::shared_bytes;
    if constexpr (has_push<R>) {
        most = std::max(most, ExactPush<R>::Shape::shared_bytes);
    }
    if constexpr (has_ring<R>) {
        most = std::max(most, ExactRing<R>::shared_bytes(MatrixShape<R>::width, R, R));
    }
    return most;
}

/// A block's tile without its first rows.
template <int R>
__device__ ConvolveTile rest_of_tile(const ConvolveImages<double>& images, int rows) {
    ConvolveTile tile(images, images.first_tile + blockIdx.x, MatrixShape<R>::width);
    tile.first_row += rows;
    tile.rows -= rows;
    return tile;
}

/// Makes outputs of a tile without the tensor cores, in the same shared memory.
template <int R>
__device__ void make_exactly(const MatrixCall<R>& call, const ConvolveTile& tile,
                             unsigned char* shared) {
    if constexpr (has_push<R>) {
        if (call.column_radius() >= R - 3 || !has_ring<R>) {
            ExactPush<R>(call.push, tile, shared).run();
            __syncthreads();
            return;
        }
    }
    if constexpr (has_ring<R>) {
        // Known here, so that code for other types is not compiled.
        __builtin_assume(call.ring.in_type == ElementType::float64);
        __builtin_assume(call.ring.out_type == ElementType::float64);
        Ring<ExactRing<R>>(call.ring, tile, reinterpret_cast<double*>(shared)).run();
        __syncthreads();
    }
}

/// The matrix kernel makes a tile. Where it stops, an exact kernel makes some rows, more of them if
/// the matrix kernel has just made none.
template <int R>
__global__ void __launch_bounds__(MatrixShape<R>::threads, 1)
    convolve_matrix_kernel(const __grid_constant__ MatrixCall<R> call) {
#if __CUDA_ARCH__ == 900
    extern __shared__ __align__(128) unsigned char shared[];
    int done = 0; // rows
    int again = 64;
#pragma unroll 1
    for (;;) {
        const ConvolveTile tile = rest_of_tile<R>(call.images, done);
        const int right = tile.rows > 0 ? Matrix<R>(call, tile, shared).run() : 0;
        if (right == tile.rows) {
            break;
        }
        done += right;
        again = right > 0 ? 128 : 2 * again;
        ConvolveTile part = rest_of_tile<R>(call.images, done);
        part.rows = again < part.rows ? again : part.rows;
        make_exactly<R>(call, part, shared);
        done += static_cast<int>(part.rows);
    }
#endif
}

/// Whether the kernel that the queue's device would run was compiled for compute capability 9.0 and
/// runs there: only for it is it known that products round like chains of multiply-adds.
template <int R> bool has_kernel(CudaQueue& queue) {
    queue.make_current();
    cudaFuncAttributes attributes{};
    cuda_call([&] { return cudaFuncGetAttributes(&attributes, convolve_matrix_kernel<R>); });
    return attributes.ptxVersion == 90 && attributes.binaryVersion == 90;
}

/// Tiles of radius R, or of smaller ones: taps are centred and padded.
template <int R>
void convolve_matrix(CudaQueue& queue, ConvolveImages<double> images, std::int64_t frames,
                     const std::vector<double>& row_taps, const std::vector<double>& column_taps) {
    static_assert(2 * MatrixShape<R>::width == MatrixShape<R>::threads); // as of the exact kernels
    MatrixCall<R> call{};
    call.images = call.push.images = images;
    call.ring = ring_call(images, ElementType::float64, ElementType::float64, row_taps, column_taps,
                          MatrixShape<R>::width);
    if (has_push<R>) {
        set_taps(call.push, row_taps, column_taps);
    }
    const auto centred = [](const std::vector<double>& taps, double* all) {
        std::fill(all, all + MatrixShape<R>::taps, no_sum<double>);
        std::copy(taps.begin(), taps.end(), all + (MatrixShape<R>::taps - taps.size()) / 2);
    };
    centred(row_taps, call.padded_row);
    centred(column_taps, call.padded_column);
    launch_tiles(queue, convolve_matrix_kernel<R>, MatrixShape<R>::threads, shared_bytes<R>(),
                 MatrixShape<R>::width, SegmentCut{92, std::max(256, 8 * R)}, frames,
                 image_work(images, frames, sizeof(double), sizeof(double),
                            static_cast<std::int64_t>(row_taps.size() + column_taps.size())),
                 call);
}

template <int R> PushLaunch<double> matrix_launch(CudaQueue& queue) {
    return has_kernel<R>(queue) ? convolve_matrix<R> : nullptr;
}

} // namespace

PushLaunch<double> matrix_push_launch(CudaQueue& queue, std::int64_t row_radius,
                                      std::int64_t column_radius) {
    const std::int64_t radius = std::max(row_radius, column_radius);
    const std::int64_t sum = row_radius + column_radius;
    if (radius > 64 || sum < 16 || (row_radius == column_radius && radius < 12)) {
        return nullptr; // of small radii memory bounds the other kernels too
    }
    const std::int64_t fours = (radius + 3) / 4;
    if (fours == 3 && column_radius < 9) {
        return nullptr;
    }
    switch (fours) {
    case 3: return matrix_launch<12>(queue);
    case 4: return matrix_launch<16>(queue);
    case 5: return matrix_launch<20>(queue);
    case 6: return matrix_launch<24>(queue);
    case 7: return matrix_launch<28>(queue);
    case 8: return matrix_launch<32>(queue);
    default: return radius <= 48 ? matrix_launch<48>(queue) : matrix_launch<64>(queue);
    }
}

} // namespace runner
