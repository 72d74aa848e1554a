// SPDX-License-Identifier: BSD-3-Clause
// What the scatter kernel's blocks of threads move, and how it comes to shared memory: words of the
// input's rows, whose elements go to their columns.
#pragma once

#include "kernels/queue/divisor.hpp"
#include "kernels/transpose/scatter/transpose_scatter_plan.hpp"
#include "kernels/transpose/transpose_shift.cuh"

#include <cstdint>

namespace runner::scatter_cuda {

using namespace transpose_cuda;

constexpr int threads = 256;
constexpr int at_once = 8; ///< words that a thread has in flight
constexpr int word = 4;

/// What a launch of the scatter kernel is given.
struct ScatterCall {
    ScatterPlan plan;
    const std::byte* in;
    std::byte* out;
    Readable readable;
    Divisor tiles; ///< of one of the batch
    Divisor in_lanes;
    int in_rows_at_once; ///< that all threads are at
};

/// What one block of threads moves.
struct ScatterTile {
    const std::byte* in; ///< its first row
    std::byte* out;
    int columns;
};

/// The tile of this block of threads.
__device__ inline ScatterTile scatter_tile(const ScatterCall& call) {
    const ScatterPlan& plan = call.plan;
    const Divided place = divide(blockIdx.x, call.tiles);
    const std::int64_t column = static_cast<std::int64_t>(place.rest) * plan.across;
    ScatterTile tile;
    tile.in = call.in + place.quotient * plan.c.in + column * plan.element_bytes;
    tile.out = call.out + place.quotient * plan.c.out + column * plan.row_bytes();
    tile.columns =
        static_cast<int>(min(plan.count - column, static_cast<std::int64_t>(plan.across)));
    return tile;
}

/// How many words a tile's rows may have.
__device__ inline int words_of_rows(const ScatterCall& call, const ScatterTile& tile) {
    const ScatterPlan& plan = call.plan;
    const int before = plan.at_words ? 0 : word - plan.element_bytes;
    return (tile.columns * plan.element_bytes + before + word - 1) / word;
}

/// Whether all these words are readable.
__device__ inline bool words_readable(const ScatterCall& call, const ScatterTile& tile) {
    const std::byte* last = tile.in + (call.plan.rows - 1) * call.plan.in_pitch;
    return tile.in - word >= call.readable.begin &&
           last + word * words_of_rows(call, tile) <= call.readable.end;
}

/// Stores a word's elements, `pitch` bytes apart.
template <int element> __device__ void scatter(std::byte* to, int pitch, std::uint32_t value) {
#pragma unroll
    for (int k = 0; k < word / element; ++k) {
        *reinterpret_cast<Word<element>*>(to + k * pitch) =
            static_cast<Word<element>>(value >> (8 * element * k));
    }
}

/// A word of some of the rows from `row` on, `rows` of them a thread. Words may reach beyond the
/// tile's rows: shared memory has room for what they hold there.
/// @param from the word of the first of these rows where they begin at words
/// @param to where the word's first element goes in the first row
template <int element, bool at_words, int rows, bool whole, bool inside>
__device__ void read_batch(const ScatterCall& call, int row, const std::byte* from, std::byte* to) {
    const ScatterPlan& plan = call.plan;
    const int step = call.in_rows_at_once;
    const std::int64_t stride = step * plan.in_pitch;
    std::uint32_t values[rows];
    int before[rows];
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        if (whole || row + j * step < plan.rows) {
            before[j] = at_words ? 0 : static_cast<int>(beyond(from, word));
            values[j] = inside ? load<Use::again, std::uint32_t>(from - before[j])
                               : load_unaligned(from - before[j], call.readable);
        }
        from += stride;
    }
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        if (whole || row + j * step < plan.rows) {
            scatter<element>(at_words ? to : to - before[j] / element * plan.row_bytes(),
                             plan.row_bytes(), values[j]);
        }
        to += step * element;
    }
}

/// @param shared where the first column begins, after the margin.
template <int element, bool at_words>
__device__ void read_words(const ScatterCall& call, const ScatterTile& tile, std::byte* shared) {
    const ScatterPlan& plan = call.plan;
    const Divided thread = divide(threadIdx.x, call.in_lanes);
    const int step = call.in_rows_at_once;
    if (static_cast<int>(thread.quotient) >= step) {
        return;
    }
    const int words = words_of_rows(call, tile);
    const bool inside = words_readable(call, tile);
    for (int i = static_cast<int>(thread.rest); i < words; i += plan.in_lanes) {
        int row = static_cast<int>(thread.quotient);
        const std::byte* from = tile.in + row * plan.in_pitch + word * i;
        std::byte* to = shared + word / element * i * plan.row_bytes() + row * element;
        const int turn = inside ? at_once : 1;
        for (; row + (turn - 1) * step < plan.rows; row += turn * step) {
            if (inside) {
                read_batch<element, at_words, at_once, true, true>(call, row, from, to);
            } else {
                read_batch<element, at_words, 1, true, false>(call, row, from, to);
            }
            from += turn * step * plan.in_pitch;
            to += turn * step * element;
        }
        if (row < plan.rows) {
            read_batch<element, at_words, at_once, false, true>(call, row, from, to);
        }
    }
}

} // namespace runner::scatter_cuda
