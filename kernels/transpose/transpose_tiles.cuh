// SPDX-License-Identifier: BSD-3-Clause
// The tile kernel: wide accesses on both sides, elements exchanged in registers on the way into
// shared memory, which holds a tile as the output wants it.
#pragma once

#include "kernels/queue/block_memory.cuh"
#include "kernels/transpose/transpose_micro.cuh"
#include "kernels/transpose/transpose_shift.cuh"
#include "kernels/transpose/transpose_ways.hpp"

#include <cstddef>
#include <cstdint>

namespace runner::transpose_cuda {

/// Where rows of one side lie: row i at (i / minor) · far + (i mod minor) · near bytes; without a
/// fold at i · far.
struct TileRows {
    Divisor minor;
    std::int64_t far;
    std::int64_t near;
};

/// A batch (`c`) of transpositions of `b` rows of `a` elements. Pitches are bytes.
struct TileCall {
    const std::byte* in;
    std::byte* out;
    Readable readable;
    TileFold fold;
    std::int64_t a;
    std::int64_t b;
    TileRows in_rows;
    std::int64_t in_c;
    TileRows out_rows;
    std::int64_t out_c;
    Divisor plane;       ///< tiles of one of the batch
    Divisor band;        ///< tiles of `height` rows of tiles
    Divisor height;      ///< rows of tiles that are walked together
    Divisor last_height; ///< those of the last band
    std::uint32_t last_band;
};

/// What is fixed at compile time; the names are those of TransposeTileForm.
template <int element_, int in_, int out_, int across_, int along_, int threads_,
          RowStart start_ = RowStart::aligned>
struct TileForm {
    static constexpr int element = element_;
    static constexpr int in = in_;
    static constexpr int out = out_;
    static constexpr int across = across_;
    static constexpr int along = along_;
    static constexpr int threads = threads_;
    static constexpr RowStart start = start_;
    static constexpr bool anywhere = start == RowStart::anywhere;

    // Shared memory holds rows of `along` elements in units of 16 bytes.
    static constexpr int unit = 16;
    static constexpr int units = along * element / unit;
    static constexpr int shared_bytes = across * along * element;
    // A thread's piece: `rows` of the input, `columns` elements of each.
    static constexpr int columns = in / element;
    static constexpr int rows = unit / element;
    static constexpr int pieces_across = across / columns;
    static constexpr int pieces = pieces_across * (along / rows) / threads;
    // Where output rows start anywhere, every row ends its part of a tile at a multiple of 16 bytes
    // of its own, which is why a tile holds a little more than it steps on.
    static constexpr int step = anywhere ? along - unit / element : along;
    static constexpr bool shifts_in = anywhere && in > element;
    static constexpr Use in_use = in == 16 && !anywhere ? Use::once : Use::again;
    static constexpr Use out_use = out == 16 && !anywhere ? Use::once : Use::again;

    static_assert(!anywhere || out == 16);
    static_assert(units >= 8 && pieces_across >= 8, "eight lanes would meet in a bank");
    static_assert(pieces * threads == pieces_across * (along / rows));
    static_assert(across * (along * element / out) % threads == 0);
    static_assert(!anywhere || threads % units == 0);
};

/// The places of rows from the `first` on, where they are evenly apart.
struct EvenRows {
    std::int64_t begin;
    std::int64_t pitch;

    __device__ EvenRows(const TileRows& rows, std::int64_t first)
        : begin(first * rows.far), pitch(rows.far) {}
    __device__ std::int64_t operator()(int row) const { return begin + row * pitch; }
};

/// The same wherever they are.
struct FoldedRows {
    TileRows rows;
    std::uint32_t first;

    __device__ FoldedRows(const TileRows& all, std::int64_t begin)
        : rows(all), first(static_cast<std::uint32_t>(begin)) {}
    __device__ std::int64_t operator()(int row) const {
        const Divided place = divide(first + static_cast<std::uint32_t>(row), rows.minor);
        return place.quotient * rows.far + place.rest * rows.near;
    }
};

struct TilePlace {
    std::int64_t a;
    std::int64_t b;
    std::int64_t c;
};

template <class F> __device__ TilePlace tile_place(const TileCall& call, std::uint32_t index) {
    const Divided batch = divide(index, call.plane);
    const Divided band = divide(batch.rest, call.band);
    const Divided within =
        divide(band.rest, band.quotient == call.last_band ? call.last_height : call.height);
    return {static_cast<std::int64_t>(within.quotient) * F::across,
            (static_cast<std::int64_t>(band.quotient) * call.height.value + within.rest) * F::step,
            batch.quotient};
}

/// Where unit `unit` of row `row` lies: moved within its row so that lanes that hold the same unit
/// of different rows do not meet in a bank.
template <class F> __device__ int unit_index(int row, int unit) {
    return row * F::units + (unit ^ ((row / F::columns) & 7));
}

template <int bytes>
__device__ void unpack(const Word<bytes>& value, std::uint32_t (&words)[bytes / 4]) {
    if constexpr (bytes == 16) {
        words[0] = value.x;
        words[1] = value.y;
        words[2] = value.z;
        words[3] = value.w;
    } else if constexpr (bytes == 8) {
        words[0] = value.x;
        words[1] = value.y;
    } else {
        words[0] = value;
    }
}

/// `in` bytes that start anywhere. The aligned bytes around them are inside of `readable` where
/// `inside` says so; others are not read.
template <class F>
__device__ void read_shifted(const TileCall& call, const std::byte* from, bool inside,
                             std::uint32_t (&words)[F::in / 4]) {
    constexpr int count = F::in / 4;
    std::uint32_t around[2 * count];
    if (inside) {
        const std::byte* aligned = from - beyond(from, F::in);
        std::uint32_t half[count];
        unpack<F::in>(load<Use::again, Word<F::in>>(aligned), half);
#pragma unroll
        for (int i = 0; i < count; ++i) {
            around[i] = half[i];
        }
        unpack<F::in>(load<Use::again, Word<F::in>>(aligned + F::in), half);
#pragma unroll
        for (int i = 0; i < count; ++i) {
            around[count + i] = half[i];
        }
        shift_words<F::element, count>(around, beyond(from, F::in), words);
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            words[i] = load_unaligned(from + 4 * i, call.readable);
        }
    }
}

template <class F>
__device__ void read_row(const TileCall& call, const std::byte* from, bool inside,
                         std::uint32_t (&words)[F::in / 4]) {
    if constexpr (F::shifts_in) {
        read_shifted<F>(call, from, inside, words);
    } else {
        unpack<F::in>(load<F::in_use, Word<F::in>>(from), words);
    }
}

/// Whether all that the threads may read around a tile's rows is readable. Where rows are folded
/// this reads all that the tile's far steps hold.
template <class F>
__device__ bool readable_around(const TileCall& call, const std::byte* in, const TilePlace& place,
                                int b_count) {
    const FoldedRows rows(call.in_rows, place.b);
    const auto begin = call.fold == TileFold::along
                           ? quotient(rows.first, rows.rows.minor) * rows.rows.far
                           : place.b * rows.rows.far;
    const auto end = call.fold == TileFold::along
                         ? quotient(rows.first + b_count - 1, rows.rows.minor) * rows.rows.far +
                               (rows.rows.minor.value - 1) * rows.rows.near
                         : begin + (b_count - 1) * rows.rows.far;
    return in + begin - F::in >= call.readable.begin &&
           in + end + F::across * F::element + 2 * F::in <= call.readable.end;
}

/// Whether all of a tile is in the array, which most are, and which saves asking for every row.
enum class Filled { whole, partly };

/// The thread's pieces from the input to shared memory.
template <class F, Filled filled, class Rows>
__device__ void read_tile(const TileCall& call, const std::byte* in, const Rows& place, int a_count,
                          int b_count, bool inside, uint4* tile) {
    using Piece = Micro<F::element, F::rows, F::columns>;
    Piece pieces[F::pieces];
#pragma unroll
    for (int p = 0; p < F::pieces; ++p) {
        const int index = static_cast<int>(threadIdx.x) + p * F::threads;
        const int a = index % F::pieces_across * F::columns;
        const int b = index / F::pieces_across * F::rows;
        const int rows = a < a_count ? b_count - b : 0;
#pragma unroll
        for (int r = 0; r < F::rows; ++r) {
            if (filled == Filled::whole || r < rows) {
                read_row<F>(call, in + place(b + r) + a * F::element, inside, pieces[p].row[r]);
            } else {
#pragma unroll
                for (int w = 0; w < Piece::words; ++w) {
                    pieces[p].row[r][w] = 0;
                }
            }
        }
    }
#pragma unroll
    for (int p = 0; p < F::pieces; ++p) {
        const int index = static_cast<int>(threadIdx.x) + p * F::threads;
        const int a = index % F::pieces_across * F::columns;
        const auto turned = exchanged(pieces[p]);
#pragma unroll
        for (int c = 0; c < F::columns; ++c) {
            tile[unit_index<F>(a + c, index / F::pieces_across)] =
                make_uint4(turned.row[c][0], turned.row[c][1], turned.row[c][2], turned.row[c][3]);
        }
    }
}

template <class F>
__device__ void read_rows(const TileCall& call, const TilePlace& place, int a_count, int b_count,
                          uint4* tile) {
    const std::byte* in = call.in + place.c * call.in_c + place.a * F::element;
    const FoldedRows folded(call.in_rows, place.b);
    const EvenRows even(call.in_rows, place.b);
    if (F::shifts_in && !readable_around<F>(call, in, place, b_count)) {
        read_tile<F, Filled::partly>(call, in, folded, a_count, b_count, false, tile);
    } else if (call.fold == TileFold::along) {
        read_tile<F, Filled::partly>(call, in, folded, a_count, b_count, true, tile);
    } else if (F::anywhere && a_count == F::across && b_count == F::along) {
        read_tile<F, Filled::whole>(call, in, even, a_count, b_count, true, tile);
    } else {
        read_tile<F, Filled::partly>(call, in, even, a_count, b_count, true, tile);
    }
}

/// Rows of the tile to the output, `out` bytes a thread.
template <class F, class Rows>
__device__ void write_tile(std::byte* out, const Rows& place, int a_count, int b_count,
                           const uint4* tile) {
    constexpr int row_words = F::along * F::element / F::out;
    using W = Word<F::out>;
    const auto* words = reinterpret_cast<const W*>(tile);
    constexpr int words_a_unit = F::unit / F::out;
#pragma unroll
    for (int i = 0; i < F::across * row_words / F::threads; ++i) {
        const int index = static_cast<int>(threadIdx.x) + i * F::threads;
        const int row = index / row_words;
        const int k = index % row_words;
        if (row < a_count && k * F::out < b_count * F::element) {
            const int at = unit_index<F>(row, k / words_a_unit) * words_a_unit + k % words_a_unit;
            store<F::out_use>(out + place(row) + k * F::out, words[at]);
        }
    }
}

/// The same where rows of the output start anywhere: 16 aligned bytes are put together from two
/// units. Only a row's first and last are written by elements.
template <class F, class Rows>
__device__ void write_tile_anywhere(std::byte* out, const Rows& place, int a_count, int b_count,
                                    bool first_tile, const uint4* tile) {
    constexpr int rows_a_turn = F::threads / F::units;
    const int k = static_cast<int>(threadIdx.x) % F::units;
    const int b_bytes = b_count * F::element;
#pragma unroll 4
    for (int i = 0; i < F::across / rows_a_turn; ++i) {
        const int row = static_cast<int>(threadIdx.x) / F::units + i * rows_a_turn;
        std::byte* to = out + place(row);
        const int before = static_cast<int>(beyond(to, 16));
        const int skipped = -before & 15;
        // A row's first vector begins before it in the row's first tile, in others where the tile
        // before ends.
        const int start = 16 * k + (first_tile ? -before : skipped);
        const int end = min(F::step * F::element + skipped, b_bytes);
        if (row >= a_count || start >= end) {
            continue;
        }
        const int unit = start >> 4;
        const uint4 value =
            shifted<F::element>(tile[unit_index<F>(row, max(unit, 0))],
                                tile[unit_index<F>(row, min(unit + 1, F::units - 1))],
                                static_cast<unsigned>(start) & 15U);
        if (start >= 0 && start + 16 <= end) {
            store<F::out_use>(to + start, value);
        } else {
            store_elements<F::element>(to + start, value, -start, end - start);
        }
    }
}

template <class F, class Rows>
__device__ void write_rows(const TileCall& call, const TilePlace& place, int a_count, int b_count,
                           const uint4* tile) {
    std::byte* out = call.out + place.c * call.out_c + place.b * F::element;
    const Rows rows(call.out_rows, place.a);
    if constexpr (F::anywhere) {
        write_tile_anywhere<F>(out, rows, a_count, b_count, place.b == 0, tile);
    } else {
        write_tile<F>(out, rows, a_count, b_count, tile);
    }
}

template <class F> __global__ void __launch_bounds__(F::threads) tile_kernel(TileCall call) {
    uint4* tile = dynamic_shared();
    const TilePlace place = tile_place<F>(call, blockIdx.x);
    const int a_count =
        static_cast<int>(min(call.a - place.a, static_cast<std::int64_t>(F::across)));
    const int b_count =
        static_cast<int>(min(call.b - place.b, static_cast<std::int64_t>(F::along)));
    read_rows<F>(call, place, a_count, b_count, tile);
    __syncthreads();
    if (call.fold == TileFold::across) {
        write_rows<F, FoldedRows>(call, place, a_count, b_count, tile);
    } else {
        write_rows<F, EvenRows>(call, place, a_count, b_count, tile);
    }
}

} // namespace runner::transpose_cuda
