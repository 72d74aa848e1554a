// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_push.cuh"
#include "kernels/convolve/matrix/convolve_matrix.cuh"
#include "kernels/convolve/matrix/convolve_matrix.hpp"
#include "kernels/convolve/tiling.cuh"
#include "kernels/queue/cuda_call.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

using namespace convolve_cuda;

/// For columns of any radius up to R.
template <int R> struct AnyColumnsArguments : AnyPushArguments<double, R> {
    __device__ bool has_sum(int s) const { return (s + 1) / 2 <= this->own_column_radius; }
};

/// The exact kernel that makes a tile of the matrix kernel again. Up to radius 32 the upper half of
/// the block leaves.
template <int R> struct ExactPush {
    static constexpr bool any = R <= 32;
    using Layout = std::conditional_t<any, PushLayout<128, 1, 8, 8, 1, 2, 1, 4>,
                                      PushLayout<128, 1, 4, 8, 2, 2, 1, 2>>;
    using AnyArguments = std::conditional_t<MatrixShape<R>::full_columns,
                                            AnyPushArguments<double, R>, AnyColumnsArguments<R>>;
    using Arguments = std::conditional_t<any, AnyArguments, PushArguments<double, R>>;
    using Kernel = Push<double, R, Layout, double, Arguments>;
    static_assert(Kernel::Shape::width == MatrixShape<R>::width);
};

template <int R> using ArgumentsOf = MatrixArguments<R, typename ExactPush<R>::Arguments>;

template <int R>
__global__ void __launch_bounds__(MatrixShape<R>::threads, 1)
    convolve_matrix_kernel(const __grid_constant__ ArgumentsOf<R> arguments) {
#if __CUDA_ARCH__ == 900
    using Exact = typename ExactPush<R>::Kernel;
    extern __shared__ __align__(128) unsigned char shared[];
    const ConvolveTile tile(arguments.view, arguments.view.first_tile + blockIdx.x,
                            MatrixShape<R>::width);
    if (!Matrix<R, ArgumentsOf<R>>(arguments, tile, shared).run() &&
        threadIdx.x < Exact::Shape::threads) {
        Exact(arguments, tile, shared).run();
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

/// Of radius R, or of a smaller one: taps are centred and padded.
template <int R>
void convolve_matrix(CudaQueue& queue, ConvolveView<double> view, std::int64_t frames,
                     const std::vector<double>& row_taps, const std::vector<double>& column_taps) {
    using Exact = ExactPush<R>;
    ArgumentsOf<R> arguments{};
    arguments.view = view;
    set_taps(arguments, row_taps, column_taps);
    const auto centred = [](const std::vector<double>& taps, double* all) {
        std::fill(all, all + MatrixShape<R>::taps, no_sum<double>);
        std::copy(taps.begin(), taps.end(), all + (MatrixShape<R>::taps - taps.size()) / 2);
    };
    centred(row_taps, arguments.padded_row);
    centred(column_taps, arguments.padded_column);
    constexpr int shared_bytes =
        std::max(Matrix<R, ArgumentsOf<R>>::shared_bytes, Exact::Kernel::Shape::shared_bytes);
    launch_tiles(queue, convolve_matrix_kernel<R>, MatrixShape<R>::threads, shared_bytes,
                 MatrixShape<R>::width, SegmentCut{85, 512}, frames,
                 image_work(view, frames, sizeof(double), sizeof(double),
                            static_cast<std::int64_t>(row_taps.size() + column_taps.size())),
                 arguments);
}

template <int R> PushLaunch<double> matrix_launch(CudaQueue& queue) {
    return has_kernel<R>(queue) ? convolve_matrix<R> : nullptr;
}

} // namespace

PushLaunch<double> matrix_push_launch(CudaQueue& queue, std::int64_t row_radius,
                                      std::int64_t column_radius) {
    const std::int64_t radius = std::max(row_radius, column_radius);
    if (radius > 32) {
        const bool equal = row_radius == column_radius;
        return equal && radius == 48   ? matrix_launch<48>(queue)
               : equal && radius == 64 ? matrix_launch<64>(queue)
                                       : nullptr;
    }
    if (std::min(row_radius, column_radius) <= 16) {
        return nullptr; // what the padding costs is more than the products save
    }
    switch ((radius + 3) / 4) {
    case 5: return matrix_launch<20>(queue);
    case 6: return matrix_launch<24>(queue);
    case 7: return matrix_launch<28>(queue);
    default: return column_radius == 32 ? matrix_launch<32>(queue) : nullptr;
    }
}

} // namespace runner
