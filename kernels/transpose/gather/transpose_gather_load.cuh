// SPDX-License-Identifier: BSD-3-Clause
// What the gather kernel's blocks of threads move, and how it comes to shared memory: aligned
// vectors of the input's rows as they are.
#pragma once

#include "kernels/queue/block_memory.cuh"
#include "kernels/transpose/gather/transpose_gather_plan.hpp"
#include "kernels/transpose/transpose_shift.cuh"
#include "kernels/transpose/transpose_tiles.cuh"

#include <cstdint>

namespace runner::gather_cuda {

using namespace transpose_cuda;

/// What a launch is given. Lengths along an output row are counted in elements from a tile's begin.
struct GatherCall {
    const std::byte* in;
    std::byte* out;
    Readable readable;
    std::int64_t a_count; ///< rows of the output
    std::int64_t a_pitch;
    std::int64_t b_count; ///< rows of the input
    TileRows b;
    std::int64_t fold_step; ///< from the end of a fold of them to the next
    std::int64_t in_c;
    std::int64_t out_c;
    Divisor point; ///< elements of one
    int across;
    int skew;   ///< mask
    int spread; ///< log2 of the columns from a thread to the next
    bool turned;
    std::uint32_t tiles;
    Divisor plane; ///< as in TileCall
    Divisor band;
    Divisor height;
    Divisor last_height;
    std::uint32_t last_band;
};

/// What rows of the input are: as far apart as each other, folded, or such rows of points.
enum class GatherKind { even, folded, points };

/// What is fixed at compile time.
template <int element_, int lanes_, int vectors_, int threads_> struct GatherForm {
    static constexpr int element = element_;
    static constexpr int lanes = lanes_;     ///< vectors of an input row's part
    static constexpr int vectors = vectors_; ///< of an output row's part
    static constexpr int threads = threads_;

    static constexpr int per = 16 / element;              ///< elements of a vector
    static constexpr int period = gather_align / element; ///< columns after which rows begin alike
    static constexpr int row_bytes = 16 * lanes;
    static constexpr int step = vectors * per;
    static constexpr int rows_at_once = threads / lanes;
    // The warps are over parts of the vectors, of the columns that begin differently, and groups
    // of these.
    static constexpr int vector_parts = vectors / 8;
    static constexpr int column_parts = period / 4;
    static constexpr int parts = vector_parts * column_parts;
    static constexpr int warps = threads / 32;
    static constexpr int groups_at_once = warps > parts ? warps / parts : 1;

    static_assert(vectors % 8 == 0 && per >= 4);
    static_assert(parts * groups_at_once % warps == 0);
};

struct GatherTile {
    const std::byte* in; ///< the first of its bytes, but for where rows are
    std::byte* out;
    std::int64_t b; ///< the first row
    int first;      ///< where the tile begins, counted from that row's first element
    int length;     ///< elements to the end of the output's rows, or enough
    bool begins;    ///< whether it is the rows' first
    int rows;
    int a_count;
};

template <class F, GatherKind kind>
__device__ GatherTile gather_tile(const GatherCall& call, std::uint32_t index) {
    const Divided batch = divide(index, call.plane);
    const Divided band = divide(batch.rest, call.band);
    const Divided within =
        divide(band.rest, band.quotient == call.last_band ? call.last_height : call.height);
    constexpr bool points = kind == GatherKind::points;
    const int point = points ? static_cast<int>(call.point.value) : 1;
    const std::int64_t a = static_cast<std::int64_t>(within.quotient) * call.across;
    const std::int64_t begin =
        (static_cast<std::int64_t>(band.quotient) * call.height.value + within.rest) * F::step;
    GatherTile tile;
    tile.begins = begin == 0;
    const std::int64_t least = begin - (tile.begins ? 0 : F::per - 1);
    tile.b = points ? quotient(static_cast<std::uint32_t>(least), call.point) : least;
    tile.first = static_cast<int>(begin - tile.b * point);
    tile.in = call.in + batch.quotient * call.in_c + a * point * F::element;
    tile.out = call.out + batch.quotient * call.out_c + a * call.a_pitch + begin * F::element;
    constexpr std::int64_t enough = 1 << 20;
    tile.length = static_cast<int>(min(call.b_count * point - begin, enough));
    const int elements = tile.first + F::step + F::per;
    const int rows = points ? (elements - 1) / point + 1 : elements;
    tile.rows = static_cast<int>(min(call.b_count - tile.b, static_cast<std::int64_t>(rows)));
    tile.a_count = static_cast<int>(min(call.a_count - a, static_cast<std::int64_t>(call.across)));
    return tile;
}

/// Where row `row` is in shared memory, less how far it begins beyond a multiple of `gather_align`
/// bytes in memory: rows that hold the same place of consecutive vectors lie in consecutive banks.
template <class F> __device__ int row_place(const GatherCall& call, int row, int point) {
    return row * F::row_bytes + ((row * point * F::element) & call.skew);
}

/// Whether all vectors around a tile's rows are readable. Where rows are folded this is asked of
/// all that the tile's far steps hold.
template <class F, GatherKind kind>
__device__ bool vectors_readable(const GatherCall& call, const GatherTile& tile) {
    const std::byte* begin = tile.in + tile.b * call.b.far;
    const std::byte* end = begin + (tile.rows - 1) * call.b.far;
    if constexpr (kind == GatherKind::folded) {
        const auto first = static_cast<std::uint32_t>(tile.b);
        begin = tile.in + quotient(first, call.b.minor) * call.b.far;
        end = tile.in + quotient(first + tile.rows - 1, call.b.minor) * call.b.far +
              (call.b.minor.value - 1) * call.b.near;
    }
    return begin - gather_align >= call.readable.begin && end + F::row_bytes <= call.readable.end;
}

/// One vector of a row: `from` is the row's begin.
template <class F>
__device__ void read_vector(const GatherCall& call, const std::byte* from, int bytes, bool inside,
                            std::byte* row) {
    const int before = static_cast<int>(beyond(from, gather_align));
    const int at = 16 * (static_cast<int>(threadIdx.x) % F::lanes);
    if (at >= before + bytes) {
        return;
    }
    if (inside) {
        copy_async<16>(row + at, from + (at - before));
    } else {
        copy_readable(row + at, from + (at - before), call.readable);
    }
}

template <class F, GatherKind kind>
__device__ void read_vectors(const GatherCall& call, const GatherTile& tile, std::byte* shared) {
    constexpr int turns = (F::step + 2 * F::per + F::rows_at_once - 2) / F::rows_at_once;
    const int point = kind == GatherKind::points ? static_cast<int>(call.point.value) : 1;
    const int bytes = tile.a_count * point * F::element;
    const int first = static_cast<int>(threadIdx.x) / F::lanes;
    if (first >= F::rows_at_once) {
        return;
    }
    const bool inside = vectors_readable<F, kind>(call, tile);
    const FoldedRows folded(call.b, tile.b);
    const std::byte* from = tile.in + (tile.b + first) * call.b.far;
    const std::int64_t stride = F::rows_at_once * call.b.far;
#pragma unroll
    for (int i = 0; i < turns; ++i) {
        const int row = first + i * F::rows_at_once;
        if (row >= tile.rows) {
            break;
        }
        if constexpr (kind == GatherKind::folded) {
            from = tile.in + folded(row);
        }
        read_vector<F>(call, from, bytes, inside, shared + row_place<F>(call, row, point));
        from += stride;
    }
}

} // namespace runner::gather_cuda
