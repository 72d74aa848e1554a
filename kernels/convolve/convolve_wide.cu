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

template <class T> struct WideCall {
    static constexpr int most_taps = 256; ///< of a launch

    ConvolveImages<T> images; ///< input and output of the pass, both of T
    int radius;
    int first_tap; ///< of the launch
    int count;     ///< of its taps
    T taps[most_taps];
};

/// A block makes a strip of one row.
template <class T>
__global__ void __launch_bounds__(threads)
    wide_along_kernel(const __grid_constant__ WideCall<T> call) {
    constexpr int width = threads * along_outputs;
    __shared__ T elements[width + WideCall<T>::most_taps - 1];
    const ConvolveImages<T>& images = call.images;
    const std::int64_t block = images.first_tile + blockIdx.x;
    const std::int64_t first = block % images.strips * width;
    const std::int64_t row = block / images.strips * images.columns;
    const T* const in = static_cast<const T*>(images.in) + row;
    T* const out = static_cast<T*>(images.out) + row;
    const std::int64_t from = first + call.first_tap - call.radius;
    for (int i = static_cast<int>(threadIdx.x); i < width + call.count - 1; i += threads) {
        const std::int64_t column =
            held_column(from + i, images.columns, call.radius, images.boundary);
        elements[i] = column < 0 ? images.fill : in[column];
    }
    __syncthreads();
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < width && first + at < images.columns;
         at += threads) {
        T sum = call.first_tap == 0 ? no_sum<T> : out[first + at];
#pragma unroll 8
        for (int tap = 0; tap < call.count; ++tap) {
            sum = multiply_add(call.taps[tap], elements[at + tap], sum);
        }
        out[first + at] = sum;
    }
}

/// A block makes eight rows of a strip. Blocks that follow one another make the rows of one strip,
/// so that what they both read is still in the L2 cache.
template <class T>
__global__ void __launch_bounds__(threads)
    wide_across_kernel(const __grid_constant__ WideCall<T> call) {
    constexpr std::int64_t beyond = -1;
    __shared__ std::int64_t places[WideCall<T>::most_taps + across_outputs - 1];
    const ConvolveImages<T>& images = call.images;
    const std::int64_t block = images.first_tile + blockIdx.x;
    const std::int64_t skipped = block % images.segments * across_outputs;
    const std::int64_t strip = block / images.segments % images.strips;
    const std::int64_t frame = block / images.segments / images.strips;
    const std::int64_t first = images.out_first + skipped - call.radius + call.first_tap;
    const std::int64_t last = images.out_first + images.out_rows - 1 + call.radius;
    const int needed = call.count + across_outputs - 1;
    for (int i = static_cast<int>(threadIdx.x); i < needed; i += threads) {
        const std::int64_t row = first + i;
        // Rows past the last needed one may be held nowhere.
        const std::int64_t held =
            row > last || is_fill_row(images, row) ? beyond : held_row(images, row);
        places[i] = held < 0 ? beyond : (frame * images.in_rows + held) * images.columns;
    }
    __syncthreads();
    const std::int64_t column = strip * threads + threadIdx.x;
    if (column >= images.columns) {
        return;
    }
    const std::int64_t left = images.out_rows - skipped;
    const T* const in = static_cast<const T*>(images.in) + column;
    T* const out =
        static_cast<T*>(images.out) + (frame * images.out_rows + skipped) * images.columns + column;
    T sum[across_outputs];
#pragma unroll
    for (int p = 0; p < across_outputs; ++p) {
        sum[p] = call.first_tap > 0 && p < left ? out[p * images.columns] : no_sum<T>;
    }
#pragma unroll 1
    for (int i = 0; i < needed; ++i) {
        const T value = places[i] < 0 ? images.fill : in[places[i]];
#pragma unroll
        for (int p = 0; p < across_outputs; ++p) {
            const int tap = i - p;
            if (tap >= 0 && tap < call.count) {
                sum[p] = multiply_add(call.taps[tap], value, sum[p]);
            }
        }
    }
#pragma unroll
    for (int p = 0; p < across_outputs; ++p) {
        if (p < left) {
            out[p * images.columns] = sum[p];
        }
    }
}

/// Launches a pass with as many blocks for each part of its taps. `samples`: of its output.
template <class T>
void launch_pass(CudaQueue& queue, void (*kernel)(WideCall<T>), const ConvolveImages<T>& images,
                 const std::vector<T>& taps, std::int64_t blocks, std::int64_t samples) {
    constexpr bool is_double = sizeof(T) == sizeof(double);
    WideCall<T> call{};
    call.images = images;
    call.radius = static_cast<int>(taps.size() / 2);
    const auto all = static_cast<int>(taps.size());
    for (int first = 0; first < all; first += WideCall<T>::most_taps) {
        call.first_tap = first;
        call.count = std::min(WideCall<T>::most_taps, all - first);
        std::copy_n(taps.begin() + first, call.count, call.taps);
        const double terms = static_cast<double>(samples) * call.count;
        LaunchParts parts;
        parts.count = blocks;
        parts.operations = terms * (is_double ? 4 : 2);
        const KernelWork work{2.0 * static_cast<double>(samples) * sizeof(T), 2 * terms, is_double};
        launch_parts(queue, parts, [&](std::int64_t first_block, std::int64_t count) {
            call.images.first_tile = first_block;
            launch(queue,
                   {dim3(static_cast<unsigned>(count)), dim3(threads), 0,
                    work.share(static_cast<double>(count) / static_cast<double>(blocks))},
                   kernel, call);
        });
    }
}

} // namespace

template <class T>
void convolve_wide(CudaQueue& queue, const ConvolveImages<T>& images, std::int64_t frames,
                   const std::vector<T>& row_taps, const std::vector<T>& column_taps, T* along) {
    constexpr int width = threads * along_outputs;
    ConvolveImages<T> rows = images;
    rows.out = along;
    rows.strips = (images.columns + width - 1) / width;
    const std::int64_t count = frames * images.in_rows;
    launch_pass(queue, wide_along_kernel<T>, rows, row_taps, rows.strips * count,
                count * images.columns);
    ConvolveImages<T> columns = images;
    columns.in = along;
    convolve_wide_columns(queue, columns, frames, column_taps);
}

template <class T>
void convolve_wide_columns(CudaQueue& queue, const ConvolveImages<T>& images, std::int64_t frames,
                           const std::vector<T>& taps) {
    ConvolveImages<T> cut = images;
    cut.strips = (images.columns + threads - 1) / threads;
    cut.segments = (images.out_rows + across_outputs - 1) / across_outputs;
    launch_pass(queue, wide_across_kernel<T>, cut, taps, cut.strips * cut.segments * frames,
                frames * images.out_rows * images.columns);
}

template void convolve_wide(CudaQueue&, const ConvolveImages<float>&, std::int64_t,
                            const std::vector<float>&, const std::vector<float>&, float*);
template void convolve_wide(CudaQueue&, const ConvolveImages<double>&, std::int64_t,
                            const std::vector<double>&, const std::vector<double>&, double*);
template void convolve_wide_columns(CudaQueue&, const ConvolveImages<float>&, std::int64_t,
                                    const std::vector<float>&);
template void convolve_wide_columns(CudaQueue&, const ConvolveImages<double>&, std::int64_t,
                                    const std::vector<double>&);

} // namespace runner
