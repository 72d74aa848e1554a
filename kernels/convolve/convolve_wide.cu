// SPDX-License-Identifier: BSD-3-Clause
// One pass after the other, for radii of which neither taps nor rows fit a fused kernel. A launch
// applies the next taps to sums in device memory, so the order of a sum's terms is that of the
// other kernels.
#include "kernels/convolve/convolve_ways.hpp"

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/queue/launch_parts.cuh"

#include <algorithm>
#include <vector>

namespace runner {
namespace {

using namespace convolve_cuda;

constexpr int threads = 256;
constexpr int along_outputs = 4;  ///< columns that a thread of the row pass makes
constexpr int across_outputs = 8; ///< rows that a thread of the column pass makes

template <class T> struct WideArguments {
    static constexpr int most_taps = 256; ///< of a launch

    ConvolveView<T> view; ///< input and output of the pass, both of T
    int radius;
    int first_tap; ///< of the launch
    int count;     ///< of its taps
    T taps[most_taps];
};

/// A block makes a strip of one row.
template <class T>
__global__ void __launch_bounds__(threads)
    wide_along_kernel(const __grid_constant__ WideArguments<T> arguments) {
    constexpr int width = threads * along_outputs;
    __shared__ T elements[width + WideArguments<T>::most_taps - 1];
    const ConvolveView<T>& view = arguments.view;
    const std::int64_t block = view.first_tile + blockIdx.x;
    const std::int64_t first = block % view.strips * width;
    const std::int64_t row = block / view.strips * view.columns;
    const T* const in = static_cast<const T*>(view.in) + row;
    T* const out = static_cast<T*>(view.out) + row;
    const std::int64_t from = first + arguments.first_tap - arguments.radius;
    for (int i = static_cast<int>(threadIdx.x); i < width + arguments.count - 1; i += threads) {
        const std::int64_t column =
            held_column(from + i, view.columns, arguments.radius, view.boundary);
        elements[i] = column < 0 ? view.fill : in[column];
    }
    __syncthreads();
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < width && first + at < view.columns;
         at += threads) {
        T sum = arguments.first_tap == 0 ? no_sum<T> : out[first + at];
#pragma unroll 8
        for (int tap = 0; tap < arguments.count; ++tap) {
            sum = multiply_add(arguments.taps[tap], elements[at + tap], sum);
        }
        out[first + at] = sum;
    }
}

/// A block makes eight rows of a strip. Blocks that follow one another make the rows of one strip,
/// so that what they both read is still in the L2 cache.
template <class T>
__global__ void __launch_bounds__(threads)
    wide_across_kernel(const __grid_constant__ WideArguments<T> arguments) {
    constexpr std::int64_t beyond = -1;
    __shared__ std::int64_t places[WideArguments<T>::most_taps + across_outputs - 1];
    const ConvolveView<T>& view = arguments.view;
    const std::int64_t block = view.first_tile + blockIdx.x;
    const std::int64_t skipped = block % view.segments * across_outputs;
    const std::int64_t strip = block / view.segments % view.strips;
    const std::int64_t frame = block / view.segments / view.strips;
    const std::int64_t first = view.out_first + skipped - arguments.radius + arguments.first_tap;
    const std::int64_t last = view.out_first + view.out_rows - 1 + arguments.radius;
    const int needed = arguments.count + across_outputs - 1;
    for (int i = static_cast<int>(threadIdx.x); i < needed; i += threads) {
        const std::int64_t row = first + i;
        // Rows past the last needed one may be held nowhere.
        const std::int64_t held =
            row > last || is_fill_row(view, row) ? beyond : held_row(view, row);
        places[i] = held < 0 ? beyond : (frame * view.in_rows + held) * view.columns;
    }
    __syncthreads();
    const std::int64_t column = strip * threads + threadIdx.x;
    if (column >= view.columns) {
        return;
    }
    const std::int64_t left = view.out_rows - skipped;
    const T* const in = static_cast<const T*>(view.in) + column;
    T* const out =
        static_cast<T*>(view.out) + (frame * view.out_rows + skipped) * view.columns + column;
    T sum[across_outputs];
#pragma unroll
    for (int p = 0; p < across_outputs; ++p) {
        sum[p] = arguments.first_tap > 0 && p < left ? out[p * view.columns] : no_sum<T>;
    }
#pragma unroll 1
    for (int i = 0; i < needed; ++i) {
        const T value = places[i] < 0 ? view.fill : in[places[i]];
#pragma unroll
        for (int p = 0; p < across_outputs; ++p) {
            const int tap = i - p;
            if (tap >= 0 && tap < arguments.count) {
                sum[p] = multiply_add(arguments.taps[tap], value, sum[p]);
            }
        }
    }
#pragma unroll
    for (int p = 0; p < across_outputs; ++p) {
        if (p < left) {
            out[p * view.columns] = sum[p];
        }
    }
}

/// Launches a pass with as many blocks for each part of its taps. `samples`: of its output.
template <class T>
void launch_pass(CudaQueue& queue, void (*kernel)(WideArguments<T>), const ConvolveView<T>& view,
                 const std::vector<T>& taps, std::int64_t blocks, std::int64_t samples) {
    constexpr bool is_double = sizeof(T) == sizeof(double);
    WideArguments<T> arguments{};
    arguments.view = view;
    arguments.radius = static_cast<int>(taps.size() / 2);
    const auto all = static_cast<int>(taps.size());
    for (int first = 0; first < all; first += WideArguments<T>::most_taps) {
        arguments.first_tap = first;
        arguments.count = std::min(WideArguments<T>::most_taps, all - first);
        std::copy_n(taps.begin() + first, arguments.count, arguments.taps);
        const double terms = static_cast<double>(samples) * arguments.count;
        LaunchParts parts;
        parts.count = blocks;
        parts.operations = terms * (is_double ? 4 : 2);
        const KernelWork work{2.0 * static_cast<double>(samples) * sizeof(T), 2 * terms, is_double};
        launch_parts(queue, parts, [&](std::int64_t first_block, std::int64_t count) {
            arguments.view.first_tile = first_block;
            launch(queue,
                   {dim3(static_cast<unsigned>(count)), dim3(threads), 0,
                    work.share(static_cast<double>(count) / static_cast<double>(blocks))},
                   kernel, arguments);
        });
    }
}

} // namespace

template <class T>
void convolve_wide(CudaQueue& queue, const ConvolveView<T>& view, std::int64_t frames,
                   const std::vector<T>& row_taps, const std::vector<T>& column_taps, T* along) {
    constexpr int width = threads * along_outputs;
    ConvolveView<T> rows = view;
    rows.out = along;
    rows.strips = (view.columns + width - 1) / width;
    const std::int64_t count = frames * view.in_rows;
    launch_pass(queue, wide_along_kernel<T>, rows, row_taps, rows.strips * count,
                count * view.columns);
    ConvolveView<T> columns = view;
    columns.in = along;
    convolve_wide_columns(queue, columns, frames, column_taps);
}

template <class T>
void convolve_wide_columns(CudaQueue& queue, const ConvolveView<T>& view, std::int64_t frames,
                           const std::vector<T>& taps) {
    ConvolveView<T> cut = view;
    cut.strips = (view.columns + threads - 1) / threads;
    cut.segments = (view.out_rows + across_outputs - 1) / across_outputs;
    launch_pass(queue, wide_across_kernel<T>, cut, taps, cut.strips * cut.segments * frames,
                frames * view.out_rows * view.columns);
}

template void convolve_wide(CudaQueue&, const ConvolveView<float>&, std::int64_t,
                            const std::vector<float>&, const std::vector<float>&, float*);
template void convolve_wide(CudaQueue&, const ConvolveView<double>&, std::int64_t,
                            const std::vector<double>&, const std::vector<double>&, double*);
template void convolve_wide_columns(CudaQueue&, const ConvolveView<float>&, std::int64_t,
                                    const std::vector<float>&);
template void convolve_wide_columns(CudaQueue&, const ConvolveView<double>&, std::int64_t,
                                    const std::vector<double>&);

} // namespace runner
