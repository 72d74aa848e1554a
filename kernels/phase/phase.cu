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

    __device__ ThreadPair(const PhaseCall& call, std::int64_t frames) {
        const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
        const std::int64_t pairs = (call.rows + 1) / 2;
        frame = number / pairs;
        row = static_cast<int>(number - frame * pairs) * 2;
        is_there = frame < frames;
        has_second = row + 1 < call.rows;
    }
};

/// The spectra of rows.
template <int values>
__global__ void __launch_bounds__(most_block_threads, 1)
    rows_kernel(const __grid_constant__ PhaseCall call,
                const __grid_constant__ FourierPasses passes, std::int64_t frames, const float* in,
                float2* spectra) {
    auto* const shared = reinterpret_cast<float2*>(dynamic_shared());
    const SharedLine line{shared + threadIdx.y * call.padded_columns, 1};
    const ThreadPair pair(call, frames);
    const auto thread = static_cast<int>(threadIdx.x);
    const auto threads = static_cast<int>(blockDim.x);
    const float* const row = in + (pair.frame * call.rows + pair.row) * call.columns;
    for (int i = thread; pair.is_there && i < call.padded_columns; i += threads) {
        const int x = call.column(i);
        line[i] = make_float2(row[x], pair.has_second ? row[call.columns + x] : 0);
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(call.row_factors), line, thread, threads);
    float2* const first = spectra + (pair.frame * call.rows + pair.row) * call.pitch;
    for (int k = thread; pair.is_there && k < call.half; k += threads) {
        const float2 value = line[k];
        const float2 other = line[k == 0 ? 0 : call.padded_columns - k];
        first[k] = make_float2(value.x + other.x, value.y - other.y);
        if (pair.has_second) {
            first[call.pitch + k] = make_float2(value.y + other.y, other.x - value.x);
        }
    }
}

/// Filters columns: blockDim.x columns a block, blockDim.y threads a column, a frame in blockIdx.y.
template <int values>
__global__ void __launch_bounds__(most_block_threads, 1)
    columns_kernel(const __grid_constant__ PhaseCall call,
                   const __grid_constant__ FourierPasses passes, float2* spectra) {
    auto* const shared = reinterpret_cast<float2*>(dynamic_shared());
    const SharedLine line{shared + threadIdx.x, static_cast<int>(blockDim.x)};
    const auto column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const bool is_there = column < call.half;
    const auto thread = static_cast<int>(threadIdx.y);
    const auto threads = static_cast<int>(blockDim.y);
    float2* const frame = spectra + std::int64_t{blockIdx.y} * call.rows * call.pitch + column;
    for (int i = thread; is_there && i < call.padded_rows; i += threads) {
        line[i] = frame[std::int64_t{call.row(i)} * call.pitch];
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(call.column_factors), line, thread, threads);
    const float along = is_there ? call.along[column] : 0;
    for (int k = thread; is_there && k < call.padded_rows; k += threads) {
        const float gain = __fdiv_rn(call.scale, call.down[k] + along);
        const float2 value = line[k];
        line[k] = make_float2(value.y * gain, value.x * gain);
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(call.column_factors), line, thread, threads);
    for (int row = thread; is_there && row < call.rows; row += threads) {
        const float2 value = line[call.top + row];
        frame[std::int64_t{row} * call.pitch] = make_float2(value.y, value.x);
    }
}

/// What a thread counts.
struct ThreadCounts {
    unsigned raised = 0;
    unsigned nans = 0;
};

/// A value of the output, which is counted.
__device__ inline float finished(const PhaseCall& call, float value, ThreadCounts& counts) {
    if (call.takes_log) {
        counts.raised += value < call.floor ? 1 : 0;
        value = negative_log_on_device(value < call.floor ? call.floor : value);
    }
    counts.nans += isnan(value) ? 1 : 0;
    return isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
}

/// The rows of spectra.
template <int values>
__global__ void __launch_bounds__(most_block_threads, 1)
    back_kernel(const __grid_constant__ PhaseCall call,
                const __grid_constant__ FourierPasses passes, std::int64_t frames,
                const float2* spectra, float* out, PhaseCounts* counts) {
    auto* const shared = reinterpret_cast<float2*>(dynamic_shared());
    const SharedLine line{shared + threadIdx.y * call.padded_columns, 1};
    const ThreadPair pair(call, frames);
    const auto thread = static_cast<int>(threadIdx.x);
    const auto threads = static_cast<int>(blockDim.x);
    const float2* const first = spectra + (pair.frame * call.rows + pair.row) * call.pitch;
    for (int k = thread; pair.is_there && k < call.half; k += threads) {
        const float2 value = first[k];
        const float2 second = pair.has_second ? first[call.pitch + k] : make_float2(0, 0);
        line[k] = make_float2(value.y + second.x, value.x - second.y);
        const int mirrored = call.padded_columns - k;
        if (k > 0 && mirrored >= call.half) {
            line[mirrored] = make_float2(second.x - value.y, value.x + second.y);
        }
    }
    __syncthreads();
    transform_line<values>(passes, device_factors(call.row_factors), line, thread, threads);
    float* const row = out + (pair.frame * call.rows + pair.row) * call.columns;
    ThreadCounts mine;
    for (int x = thread; pair.is_there && x < call.columns; x += threads) {
        const float2 value = line[call.left + x];
        row[x] = finished(call, value.y, mine);
        if (pair.has_second) {
            row[call.columns + x] = finished(call, value.x, mine);
        }
    }
    if (mine.raised != 0) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&counts->raised), mine.raised);
    }
    if (mine.nans != 0) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&counts->nans), mine.nans);
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
void filter_frames(CudaQueue& queue, const PhaseCall& call, std::int64_t frames, const float* in,
                   float* out, float2* spectra, PhaseCounts* counts) {
    const FourierPasses row_passes = fourier_passes(call.padded_columns);
    const FourierPasses column_passes = fourier_passes(call.padded_rows);
    const LineBlocks rows = line_blocks(queue, call.padded_columns, 8, 8);
    const LineBlocks columns = line_blocks(queue, call.padded_rows, 16, 8);
    const auto extent = [](std::int64_t count, int each) {
        return static_cast<unsigned>(ceil_divide(count, each));
    };
    const LaunchShape of_rows{
        dim3(extent(frames * call.pairs(), rows.lines)),
        dim3(static_cast<unsigned>(rows.threads), static_cast<unsigned>(rows.lines)),
        rows.shared_bytes(call.padded_columns)};
    const LaunchShape of_columns{
        dim3(extent(call.half, columns.lines), static_cast<unsigned>(frames)),
        dim3(static_cast<unsigned>(columns.lines), static_cast<unsigned>(columns.threads)),
        columns.shared_bytes(call.padded_rows)};
    launch_lines(queue, of_rows, rows, rows_kernel<8>, rows_kernel<16>, call, row_passes, frames,
                 in, spectra);
    launch_lines(queue, of_columns, columns, columns_kernel<8>, columns_kernel<16>, call,
                 column_passes, spectra);
    launch_lines(queue, of_rows, rows, back_kernel<8>, back_kernel<16>, call, row_passes, frames,
                 static_cast<const float2*>(spectra), out, counts);
}

} // namespace

void retrieve_phase(CudaQueue& queue, const PaganinFilter& phase, std::int64_t frames,
                    const std::byte* in, float* out, const std::byte* tables, std::byte* scratch,
                    PhaseCounts* counts) {
    const PhaseCall call = phase_call(phase, tables);
    const std::int64_t at_once = phase_frames_at_once(call, frames);
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
        filter_frames(queue, call, count, from, to, reinterpret_cast<float2*>(scratch), counts);
        queue.count(phase_operations(phase, count));
    }
}

} // namespace runner
