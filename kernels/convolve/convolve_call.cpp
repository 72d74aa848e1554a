// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/convolve/convolve_tile.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace runner {
namespace {

constexpr std::int64_t line_bytes = 64; ///< a cache line, and the widest vector

double rounded(const ConvolveCall& call, double value) {
    return call.compute_type == ElementType::float64
               ? value
               : static_cast<double>(static_cast<float>(value));
}

std::vector<double> weights_of(const ConvolveCall& call, const std::vector<double>& taps) {
    std::vector<double> weights(taps.rbegin(), taps.rend());
    for (double& weight : weights) {
        weight = rounded(call, weight);
    }
    return weights;
}

/// From one row to the next: one cache line more than the row, so that rows of a power of two do
/// not share cache sets.
std::int64_t pitch_bytes_of(const ConvolveCall& call) {
    return round_up(call.tile_columns * size_of(call.compute_type), line_bytes) + line_bytes;
}

/// A row of the input with what the row pass needs on either side.
std::int64_t line_bytes_of(const ConvolveCall& call) {
    return pitch_bytes_of(call) +
           round_up(2 * call.row_reach() * size_of(call.compute_type), line_bytes);
}

/// Memory aligned to a cache line. The lanes beyond a row's end are computed and dropped; they must
/// not be left undefined. Much memory is the system's own pages, which go back at once: the
/// allocator keeps in each thread what it has freed there.
Buffer zeros(std::int64_t bytes, CpuQueue& queue) {
    constexpr std::int64_t much = 1 * MiB;
    if (bytes >= much) {
        return allocate_device(queue, bytes); // new pages are zeros
    }
    constexpr std::align_val_t alignment{line_bytes};
    auto* const data =
        static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), alignment));
    std::fill_n(data, bytes, std::byte{0});
    return {data, bytes, 0, [](std::byte* freed, std::int64_t /*size*/, int /*device*/) {
                ::operator delete (freed, std::align_val_t{line_bytes});
            }};
}

} // namespace

ConvolveCall make_convolve_call(const Convolution& convolution, const RowBlock& block,
                                const std::byte* in, std::byte* out) {
    ConvolveCall call;
    call.in_type = convolution.in_type;
    call.out_type = convolution.out_type;
    call.compute_type = convolution.compute_type();
    call.frame_rows = convolution.frame_rows;
    call.columns = convolution.columns;
    call.channels = convolution.channels;
    call.boundary = convolution.boundary;
    call.row_weights = weights_of(call, convolution.row_taps);
    call.column_weights = weights_of(call, convolution.column_taps);
    call.fill = rounded(call, convolution.fill);
    call.block = block;
    call.in = in;
    call.out = out;
    call.out_frame = block.out_rows * convolution.columns;

    constexpr std::int64_t ring_bytes = 512 * KiB;
    constexpr std::int64_t column_step = 128; // whole groups of vectors, whatever their width
    call.step_rows = 32;
    call.ring_rows = std::min(2 * call.column_radius() + call.step_rows, block.in_rows);
    const std::int64_t most =
        std::max(ring_bytes / (call.ring_rows * size_of(call.compute_type)), column_step) /
        column_step * column_step;
    constexpr std::int64_t cached_bytes = 8 * MiB;
    const std::int64_t out_bytes =
        block.frames * block.out_rows * call.columns * size_of(call.out_type);
    call.out_stores = out_bytes > cached_bytes ? OutStores::past_caches : OutStores::cached;
    const std::int64_t strips = (call.columns + most - 1) / most;
    call.tile_columns =
        strips == 1 ? call.columns : round_up((call.columns + strips - 1) / strips, column_step);
    return call;
}

ConvolveSpace::ConvolveSpace(const ConvolveCall& call, CpuQueue& queue) {
    const std::int64_t size = size_of(call.compute_type);
    const std::int64_t pitch_bytes = pitch_bytes_of(call);
    pitch_ = pitch_bytes / size;
    fill_offset_ = call.ring_rows * pitch_bytes;
    line_offset_ = fill_offset_ + pitch_bytes;
    const std::int64_t bytes = line_offset_ + line_bytes_of(call);
    bytes_ = zeros(bytes, queue);
    held_.resize(static_cast<std::size_t>(call.ring_rows));
    rows_.resize(static_cast<std::size_t>(call.step_rows + 2 * call.column_radius()));
    beyond_.reserve(static_cast<std::size_t>(2 * call.row_reach()));
}

std::int64_t ConvolveSpace::bytes_of(const ConvolveCall& call) {
    const std::int64_t rows = (call.ring_rows + 1) * pitch_bytes_of(call) + line_bytes_of(call);
    const std::int64_t lists =
        call.ring_rows + call.step_rows + 2 * call.column_radius() + 2 * call.row_reach();
    const std::int64_t taps = std::ssize(call.row_weights) + std::ssize(call.column_weights);
    return rows + lists * std::int64_t{sizeof(std::int64_t)} + taps * size_of(call.compute_type);
}

} // namespace runner
