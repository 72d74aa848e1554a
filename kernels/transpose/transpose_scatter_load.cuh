// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose_scatter.hpp"
#include "kernels/transpose/transpose_tiles.cuh"

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
    TileRows out_rows;
    Divisor in_fold;        ///< rows of the input that one far step holds
    std::int64_t fold_step; ///< from the end of a fold of them to the next
    Divisor points;         ///< elements of one
    Divisor in_lanes;
    Divisor out_lanes;
    int in_rows_at_once; ///< that all threads are at
    int out_rows_at_once;
    Divisor plane; ///< as in TileCall
    Divisor band;
    Divisor height;
    Divisor last_height;
    std::uint32_t last_band;
};

/// What one block of threads moves.
struct ScatterTile {
    std::int64_t a;
    std::int64_t b;
    const std::byte* in; ///< the first of its bytes, but for where rows are
    std::byte* out;
    int a_count;
    int b_count;
};

/// The tile of this block of threads.
__device__ inline ScatterTile scatter_tile(const ScatterCall& call) {
    const ScatterPlan& plan = call.plan;
    const Divided batch = divide(blockIdx.x, call.plane);
    const Divided band = divide(batch.rest, call.band);
    const Divided within =
        divide(band.rest, band.quotient == call.last_band ? call.last_height : call.height);
    ScatterTile tile;
    tile.a = static_cast<std::int64_t>(within.quotient) * plan.across;
    tile.b =
        (static_cast<std::int64_t>(band.quotient) * call.height.value + within.rest) * plan.step;
    tile.in = call.in + batch.quotient * plan.c.in + tile.a * plan.point_bytes();
    tile.out = call.out + batch.quotient * plan.c.out + tile.b * plan.point_bytes();
    tile.a_count =
        static_cast<int>(min(plan.a.count - tile.a, static_cast<std::int64_t>(plan.across)));
    tile.b_count =
        static_cast<int>(min(plan.b.count - tile.b, static_cast<std::int64_t>(plan.along)));
    return tile;
}

/// How many words a tile's rows may have.
__device__ inline int words_of_rows(const ScatterCall& call, const ScatterTile& tile) {
    const ScatterPlan& plan = call.plan;
    const int before = plan.at_words ? 0 : word - plan.element_bytes;
    return (tile.a_count * plan.point_bytes() + before + word - 1) / word;
}

/// Whether all these words are readable. Where rows are folded this reads all that the tile's far
/// steps hold.
__device__ inline bool words_readable(const ScatterCall& call, const ScatterTile& tile) {
    const TransposeRows& rows = call.plan.b;
    std::int64_t first = tile.b;
    std::int64_t last = tile.b + tile.b_count - 1;
    if (call.plan.fold == TileFold::along) {
        first = quotient(static_cast<std::uint32_t>(first), call.in_fold);
        last = quotient(static_cast<std::uint32_t>(last), call.in_fold);
    }
    const std::byte* begin = tile.in + first * rows.far;
    const std::byte* end = tile.in + last * rows.far + (rows.minor - 1) * rows.near;
    return begin - word >= call.readable.begin &&
           end + word * words_of_rows(call, tile) <= call.readable.end;
}

/// Goes through a tile's rows of the input, as many at a time as all threads are at.
template <bool folded> struct RowWalk {
    const std::byte* from;
    std::int64_t stride;
    int at = 0; ///< in the fold

    __device__ RowWalk(const ScatterCall& call, const ScatterTile& tile, int row) {
        const TransposeRows& rows = call.plan.b;
        if constexpr (folded) {
            const Divided place = divide(static_cast<std::uint32_t>(tile.b + row), call.in_fold);
            from = tile.in + place.quotient * rows.far + place.rest * rows.near;
            stride = call.in_rows_at_once * rows.near;
            at = static_cast<int>(place.rest);
        } else {
            from = tile.in + (tile.b + row) * rows.far;
            stride = call.in_rows_at_once * rows.far;
        }
    }
    __device__ void next(const ScatterCall& call) {
        from += stride;
        if constexpr (folded) {
            at += call.in_rows_at_once;
            if (at >= static_cast<int>(call.in_fold.value)) {
                at -= static_cast<int>(call.in_fold.value);
                from += call.fold_step;
            }
        }
    }
};

/// Where the elements of a word go in a column, the first being `number` elements into the row.
template <int element, bool points> struct WordPlaces {
    static constexpr int count = word / element;
    int at[count];

    __device__ WordPlaces(const ScatterCall& call, int number) {
        const ScatterPlan& plan = call.plan;
        if constexpr (points) {
            const Divided place =
                divide(static_cast<std::uint32_t>(number + plan.margin * plan.point), call.points);
            int of_point = static_cast<int>(place.rest);
            int next =
                (static_cast<int>(place.quotient) - plan.margin) * plan.pitch + of_point * element;
#pragma unroll
            for (int k = 0; k < count; ++k) {
                at[k] = next;
                const bool last = ++of_point == plan.point;
                of_point = last ? 0 : of_point;
                next += last ? plan.pitch - (plan.point - 1) * element : element;
            }
        } else {
#pragma unroll
            for (int k = 0; k < count; ++k) {
                at[k] = (number + k) * plan.pitch;
            }
        }
    }

    __device__ void scatter(std::byte* column, std::uint32_t value) const {
#pragma unroll
        for (int k = 0; k < count; ++k) {
            *reinterpret_cast<Word<element>*>(column + at[k]) =
                static_cast<Word<element>>(value >> (8 * element * k % 32));
        }
    }
};

/// Word `i` of some of the rows from `row` on, `rows` of them a thread. Words may reach beyond the
/// tile's rows: shared memory has room for what they hold there.
template <int element, bool points, bool at_words, int rows, Filled filled, bool inside,
          bool folded>
__device__ void read_batch(const ScatterCall& call, const ScatterTile& tile, int i, int row,
                           RowWalk<folded>& walk, const WordPlaces<element, points>& places,
                           std::byte* shared) {
    const int step = call.in_rows_at_once;
    std::uint32_t values[rows];
    int before[rows];
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        if (filled == Filled::whole || row + j * step < tile.b_count) {
            before[j] = at_words ? 0 : static_cast<int>(beyond(walk.from, word));
            const std::byte* from = walk.from - before[j] + word * i;
            values[j] = inside ? load<Use::again, std::uint32_t>(from)
                               : load_unaligned(from, call.readable);
        }
        walk.next(call);
    }
    const int p = call.plan.point_bytes();
    std::byte* column = shared + row * p;
#pragma unroll
    for (int j = 0; j < rows; ++j) {
        if (filled == Filled::whole || row + j * step < tile.b_count) {
            places.scatter(at_words ? column : column - before[j] / element * call.plan.pitch,
                           values[j]);
        }
        column += step * p;
    }
}

/// @param shared where the first column begins, after the margin.
template <int element, bool points, bool at_words, bool folded>
__device__ void read_words(const ScatterCall& call, const ScatterTile& tile, std::byte* shared) {
    const Divided thread = divide(threadIdx.x, call.in_lanes);
    const int step = call.in_rows_at_once;
    if (static_cast<int>(thread.quotient) >= step) {
        return;
    }
    const int words = words_of_rows(call, tile);
    const bool inside = words_readable(call, tile);
    for (int i = static_cast<int>(thread.rest); i < words; i += call.plan.in_lanes) {
        int row = static_cast<int>(thread.quotient);
        RowWalk<folded> walk(call, tile, row);
        const WordPlaces<element, points> places(call, word / element * i);
        if (!inside) {
#pragma unroll 1
            for (; row < tile.b_count; row += step) {
                read_batch<element, points, at_words, 1, Filled::whole, false>(
                    call, tile, i, row, walk, places, shared);
            }
            continue;
        }
#pragma unroll 1
        for (; row + (at_once - 1) * step < tile.b_count; row += at_once * step) {
            read_batch<element, points, at_words, at_once, Filled::whole, true>(
                call, tile, i, row, walk, places, shared);
        }
        if (row < tile.b_count) {
            read_batch<element, points, at_words, at_once, Filled::partly, true>(
                call, tile, i, row, walk, places, shared);
        }
    }
}

} // namespace runner::scatter_cuda
