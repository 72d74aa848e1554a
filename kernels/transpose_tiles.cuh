// SPDX-License-Identifier: BSD-3-Clause
// The tile kernel: wide accesses on both sides, elements exchanged in registers on the way into
// shared memory, which holds a tile as the output wants it.
#pragma once

#include "kernels/dynamic_shared.cuh"
#include "kernels/transpose_device.cuh"
#include "kernels/transpose_micro.cuh"

#include <cstddef>
#include <cstdint>

namespace runner {

/// A batch (`c`) of transpositions of `b` rows of `a` elements. Pitches are bytes.
struct TileCall {
    const std::byte* in;
    std::byte* out;
    Readable readable;
    std::int64_t a;
    std::int64_t b;
    std::int64_t in_b;
    std::int64_t in_c;
    std::int64_t out_a;
    std::int64_t out_c;
    Divisor plane;       ///< tiles of one of the batch
    Divisor band;        ///< tiles of `height` rows of tiles
    Divisor height;      ///< rows of tiles that are walked together
    Divisor last_height; ///< those of the last band
    std::uint32_t last_band;
};

/// What is fixed at compile time; the names are those of TransposeTileForm.
template <int element_, int in_, int out_, int across_, int along_, int threads_> struct TileForm {
    static constexpr int element = element_;
    static constexpr int in = in_;
    static constexpr int out = out_;
    static constexpr int across = across_;
    static constexpr int along = along_;
    static constexpr int threads = threads_;

    // Shared memory holds rows of `along` elements in units of 16 bytes.
    static constexpr int unit = 16;
    static constexpr int units = along * element / unit;
    static constexpr int shared_bytes = across * along * element;
    // A thread's piece: `rows` of the input, `columns` elements of each.
    static constexpr int columns = in / element;
    static constexpr int rows = unit / element;
    static constexpr int pieces_across = across / columns;
    static constexpr int pieces = pieces_across * (along / rows) / threads;
    static constexpr bool any_in = element < 4 && in == 4;
    static constexpr bool any_out = element < 4 && out == 4;
    // Rows that start anywhere share sectors with their neighbours.
    static constexpr Use in_use = in == 16 ? Use::once : Use::again;
    static constexpr Use out_use = out == 16 ? Use::once : Use::again;

    static_assert(units >= 8 && pieces_across >= 8, "eight lanes would meet in a bank");
    static_assert(pieces * threads == pieces_across * (along / rows));
    static_assert(across * (along * element / out) % threads == 0);
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
            (static_cast<std::int64_t>(band.quotient) * call.height.value + within.rest) * F::along,
            batch.quotient};
}

/// Where unit `unit` of row `row` lies: moved within its row so that lanes that hold the same unit
/// of different rows do not meet in a bank.
template <class F> __device__ int unit_index(int row, int unit) {
    return row * F::units + (unit ^ ((row / F::columns) & 7));
}

template <class F>
__device__ void read_row(const TileCall& call, const std::byte* from,
                         std::uint32_t (&words)[F::columns * F::element / 4]) {
    if constexpr (F::any_in) {
        words[0] = load_unaligned(from, call.readable);
    } else {
        const auto value = load<F::in_use, Word<F::in>>(from);
        if constexpr (F::in == 16) {
            words[0] = value.x;
            words[1] = value.y;
            words[2] = value.z;
            words[3] = value.w;
        } else if constexpr (F::in == 8) {
            words[0] = value.x;
            words[1] = value.y;
        } else {
            words[0] = value;
        }
    }
}

/// The thread's pieces from the input to shared memory.
template <class F>
__device__ void read_tile(const TileCall& call, const std::byte* in, int a_count, int b_count,
                          uint4* tile) {
    using Piece = Micro<F::element, F::rows, F::columns>;
    Piece pieces[F::pieces];
#pragma unroll
    for (int p = 0; p < F::pieces; ++p) {
        const int index = static_cast<int>(threadIdx.x) + p * F::threads;
        const int a = index % F::pieces_across * F::columns;
        const int b = index / F::pieces_across * F::rows;
        const std::byte* from = in + b * call.in_b + a * F::element;
#pragma unroll
        for (int r = 0; r < F::rows; ++r) {
            if (a < a_count && b + r < b_count) {
                read_row<F>(call, from + r * call.in_b, pieces[p].row[r]);
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

/// Rows of the tile to the output, `out` bytes a thread.
template <class F>
__device__ void write_tile(const TileCall& call, std::byte* out, int a_count, int b_count,
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
            store<F::out_use>(out + row * call.out_a + k * F::out, words[at]);
        }
    }
}

/// The same where rows of the output begin at any byte: the words that are written are aligned
/// there, and only the ends of a row are written byte by byte.
template <class F>
__device__ void write_tile_anywhere(const TileCall& call, std::byte* out, int a_count, int b_count,
                                    const uint4* tile) {
    constexpr int row_words = F::along * F::element / 4;
    const auto* words = reinterpret_cast<const std::uint32_t*>(tile);
    const auto word = [&](int row, int k) { return words[unit_index<F>(row, k / 4) * 4 + k % 4]; };
#pragma unroll 4
    for (int i = 0; i < F::across * row_words / F::threads; ++i) {
        const int index = static_cast<int>(threadIdx.x) + i * F::threads;
        const int row = index / row_words;
        const int k = index % row_words;
        if (row >= a_count) {
            continue;
        }
        std::byte* to = out + row * call.out_a;
        const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) & 3U);
        const int bytes = b_count * F::element;
        const std::uint32_t here = word(row, k);
        const std::uint32_t left = before == 0 || k == 0 ? 0U : word(row, k - 1);
        const int start = 4 * k - before;
        const std::uint32_t value =
            before == 0 ? here
                        : __funnelshift_r(left, here, 32U - 8U * static_cast<unsigned>(before));
        store_bytes(to + start, value, -start, bytes - start);
        if (k == row_words - 1 && before != 0) {
            store_bytes(to + start + 4, here >> (32U - 8U * static_cast<unsigned>(before)), 0,
                        min(before, bytes - start - 4));
        }
    }
}

template <class F> __global__ void __launch_bounds__(F::threads) tile_kernel(TileCall call) {
    uint4* tile = dynamic_shared();
    const TilePlace place = tile_place<F>(call, blockIdx.x);
    const int a_count =
        static_cast<int>(min(call.a - place.a, static_cast<std::int64_t>(F::across)));
    const int b_count =
        static_cast<int>(min(call.b - place.b, static_cast<std::int64_t>(F::along)));
    read_tile<F>(call, call.in + place.c * call.in_c + place.b * call.in_b + place.a * F::element,
                 a_count, b_count, tile);
    __syncthreads();
    std::byte* out = call.out + place.c * call.out_c + place.a * call.out_a + place.b * F::element;
    if constexpr (F::any_out) {
        write_tile_anywhere<F>(call, out, a_count, b_count, tile);
    } else {
        write_tile<F>(call, out, a_count, b_count, tile);
    }
}

} // namespace runner
