// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/phase/phase.hpp"

#include "kernels/correct/negative_log.cuh"
#include "kernels/elements/elements.hpp"
#include "kernels/fourier/fourier_lines.cuh"
#include "kernels/phase/phase_tables.hpp"

#include <cmath>
#include <limits>

namespace runner {
namespace {

using fourier_cuda::line_blocks;
using fourier_cuda::LineBlocks;
using fourier_cuda::most_block_threads;
using fourier_cuda::SharedLine;
using fourier_cuda::transform_line;

__device__ inline const float2* device_factors(const ComplexFloat* factors) {
    return reinterpret_cast<const float2*>(factors);
}

/// A pair of rows that threads of a block have: blockDim.x threads a pair, blockDim.y pairs.
struct ThreadPair {
    std::int64_t frame;
    int row; ///< the first of the two, in the frame
    bool is_there;
    bool has_second;

    __device__ ThreadPair(const PhaseView& view, std::int64_t frames) {
        const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
        const std::int64_t pairs = (view.rows + 1) / 2;
        frame = number / pairs;
        row = static_cast<int>(number - frame * pairs) * 2;
        is_there = frame < frames;
        has_second = row + 1 < view.rows;
    }
};

/// The spectra of rows.
template <int values>
__global__ void __launch_bounds__(most_block_threads, 1)
    rows_kernel(const __grid_constant__ PhaseView view,
                const __grid_constant__ FourierPasses passes, std::int64_t frames, const float* in,
                float2* spectra) {
    auto* const shared = reinterpret_cast<float2*>(dynamic_shared());
    const SharedLine line{shared + threadIdx.y * view.padded_columns, 1};
    const ThreadPair pair(view, frames);
    const auto thread = static_cast<int>(threadIdx.x);
    const auto threads = static_cast<int>(blockDim.x);
    const float* const row = in + (pair.frame * view.rows + pair.row) * view.columns;
    for (int i = thread; pair.is_there && i < view.padded_columns; i += threads) {
        const int x = view.column(i);
        line[i] = make_float2(row[x], pair.has_second ? row[view.columns + x] : 0);
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(view.row_factors), line, thread, threads);
    float2* const first = spectra + (pair.frame * view.rows + pair.row) * view.pitch;
    for (int k = thread; pair.is_there && k < view.half; k += threads) {
        const float2 value = line[k];
        const float2 other = line[k == 0 ? 0 : view.padded_columns - k];
        first[k] = make_float2(value.x + other.x, value.y - other.y);
        if (pair.has_second) {
            first[view.pitch + k] = make_float2(value.y + other.y, other.x - value.x);
        }
    }
}

/// Filters columns: blockDim.x columns a block, blockDim.y threads a column, a frame in blockIdx.y.
template <int values>
__global__ void __launch_bounds__(most_block_threads, 1)
    columns_kernel(const __grid_constant__ PhaseView view,
                   const __grid_constant__ FourierPasses passes, float2* spectra) {
    auto* const shared = reinterpret_cast<float2*>(dynamic_shared());
    const SharedLine line{shared + threadIdx.x, static_cast<int>(blockDim.x)};
    const auto column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const bool is_there = column < view.half;
    const auto thread = static_cast<int>(threadIdx.y);
    const auto threads = static_cast<int>(blockDim.y);
    float2* const frame = spectra + std::int64_t{blockIdx.y} * view.rows * view.pitch + column;
    for (int i = thread; is_there && i < view.padded_rows; i += threads) {
        line[i] = frame[std::int64_t{view.row(i)} * view.pitch];
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(view.column_factors), line, thread, threads);
    const float along = is_there ? view.along[column] : 0;
    for (int k = thread; is_there && k < view.padded_rows; k += threads) {
        const float gain = __fdiv_rn(view.scale, view.down[k] + along);
        const float2 value = line[k];
        line[k] = make_float2(value.y * gain, value.x * gain);
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(view.column_factors), line, thread, threads);
    for (int row = thread; is_there && row < view.rows; row += threads) {
        const float2 value = line[view.top + row];
        frame[std::int64_t{row} * view.pitch] = make_float2(value.y, value.x);
    }
}

/// A value of the output; counts it where it is raised.
__device__ inline float finished(const PhaseView& view, float value, unsigned& raised) {
    if (view.takes_log) {
        raised += value < view.floor ? 1 : 0;
        value = negative_log_on_device(value < view.floor ? view.floor : value);
    }
    return isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
}

/// The rows of spectra.
template <int values>
__global__ void __launch_bounds__(most_block_threads, 1)
    back_kernel(const __grid_constant__ PhaseView view,
                const __grid_constant__ FourierPasses passes, std::int64_t frames,
                const float2* spectra, float* out, unsigned long long* raised_values) {
    auto* const shared = reinterpret_cast<float2*>(dynamic_shared());
    const SharedLine line{shared + threadIdx.y * view.padded_columns, 1};
    const ThreadPair pair(view, frames);
    const auto thread = static_cast<int>(threadIdx.x);
    const auto threads = static_cast<int>(blockDim.x);
    const float2* const first = spectra + (pair.frame * view.rows + pair.row) * view.pitch;
    for (int k = thread; pair.is_there && k < view.half; k += threads) {
        const float2 value = first[k];
        const float2 second = pair.has_second ? first[view.pitch + k] : make_float2(0, 0);
        line[k] = make_float2(value.y + second.x, value.x - second.y);
        const int mirrored = view.padded_columns - k;
        if (k > 0 && mirrored >= view.half) {
            line[mirrored] = make_float2(second.x - value.y, value.x + second.y);
        }
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(view.row_factors), line, thread, threads);
    float* const row = out + (pair.frame * view.rows + pair.row) * view.columns;
    unsigned raised = 0;
    for (int x = thread; pair.is_there && x < view.columns; x += threads) {
        const float2 value = line[view.left + x];
        row[x] = finished(view, value.y, raised);
        if (pair.has_second) {
            row[view.columns + x] = finished(view, value.x, raised);
        }
    }
    if (raised != 0) {
        atomicAdd(raised_values, raised);
    }
}

/// Launches the form of a kernel whose threads hold as many values as the blocks say.
template <class Eight, class Sixteen, class... Arguments>
void launch_lines(CudaQueue& queue, const LaunchShape& shape, const LineBlocks& blocks, Eight eight,
                  Sixteen sixteen, const Arguments&... arguments) {
    if (blocks.values == 8) {
        launch(queue, shape, eight, arguments...);
    } else {
        launch(queue, shape, sixteen, arguments...);
    }
}

/// Filters frames of float32 whose spectra fit the scratch memory at once.
void filter_frames(CudaQueue& queue, const PhaseView& view, std::int64_t frames, const float* in,
                   float* out, float2* spectra, std::uint64_t* raised) {
    const FourierPasses row_passes = fourier_passes(view.padded_columns);
    const FourierPasses column_passes = fourier_passes(view.padded_rows);
    const LineBlocks rows = line_blocks(queue, view.padded_columns, 8, 8);
    const LineBlocks columns = line_blocks(queue, view.padded_rows, 16, 8);
    const auto extent = [](std::int64_t count, int each) {
        return static_cast<unsigned>(ceil_divide(count, each));
    };
    const LaunchShape of_rows{
        dim3(extent(frames * view.pairs(), rows.lines)),
        dim3(static_cast<unsigned>(rows.threads), static_cast<unsigned>(rows.lines)),
        rows.shared_bytes(view.padded_columns)};
    const LaunchShape of_columns{
        dim3(extent(view.half, columns.lines), static_cast<unsigned>(frames)),
        dim3(static_cast<unsigned>(columns.lines), static_cast<unsigned>(columns.threads)),
        columns.shared_bytes(view.padded_rows)};
    launch_lines(queue, of_rows, rows, rows_kernel<8>, rows_kernel<16>, view, row_passes, frames,
                 in, spectra);
    launch_lines(queue, of_columns, columns, columns_kernel<8>, columns_kernel<16>, view,
                 column_passes, spectra);
    launch_lines(queue, of_rows, rows, back_kernel<8>, back_kernel<16>, view, row_passes, frames,
                 static_cast<const float2*>(spectra), out,
                 reinterpret_cast<unsigned long long*>(raised));
}

} // namespace

void retrieve_phase(CudaQueue& queue, const PaganinFilter& phase, std::int64_t frames,
                    const std::byte* in, float* out, const std::byte* tables, std::byte* scratch,
                    std::uint64_t* raised) {
    const PhaseView view = phase_view(phase, tables);
    const std::int64_t at_once = phase_frames_at_once(view, frames);
    const std::int64_t pixels = phase.rows * phase.columns;
    for (std::int64_t first = 0; first < frames; first += at_once) {
        const std::int64_t count = std::min(at_once, frames - first);
        float* const to = out + first * pixels;
        const std::byte* const elements = in + first * pixels * size_of(phase.in_type);
        const float* from = reinterpret_cast<const float*>(elements);
        if (phase.in_type != ElementType::float32) {
            load_elements(queue, phase.in_type, elements, count * pixels, to);
            from = to;
        }
        filter_frames(queue, view, count, from, to, reinterpret_cast<float2*>(scratch), raised);
        queue.count(phase_operations(phase, count));
    }
}

} // namespace runner
