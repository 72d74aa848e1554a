// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/transpose/transpose_axes.hpp"

#include <cstddef>
#include <span>

namespace runner {

/// Where the rows of both sides may start: at multiples of the bytes that a thread reads or writes
/// at a time, or at any element.
enum class RowStart { aligned, anywhere };

/// One compiled form of the tile kernel. A tile is `across` elements of the input's fastest axis by
/// `along` of the output's; a thread reads `in_bytes` and writes `out_bytes` at a time.
struct TransposeTileForm {
    int element_bytes;
    int in_bytes;
    int out_bytes;
    int across;
    int along;
    int threads;
    int step; ///< from a tile to the next along the output, ≤ along
    RowStart start;

    bool operator==(const TransposeTileForm&) const = default;
};

/// Which side of a tile is two axes of the array taken for one, because they are dense together:
/// `across` the input's fastest axis and the one that it is within, `along` the output's. A short
/// axis fills tiles so, and rows of the output that are one have no ends to write by elements.
enum class TileFold { none, across, along };

/// A way to transpose by tiles.
struct TileChoice {
    TransposeTileForm form;
    TileFold fold = TileFold::none;
    int group = 16; ///< tiles along the output's fastest axis before the next along the input's

    bool operator==(const TileChoice&) const = default;
};

/// All that are compiled; of those that fill their tiles alike the first is meant.
std::span<const TransposeTileForm> transpose_tile_forms();

/// Whether this can be done so: two fastest axes with strides of 1, everything aligned for the
/// form, and for a fold three axes, two of them dense together.
bool tiles_fit(const TileChoice& choice, const TransposeAxes& axes, const std::byte* in,
               const std::byte* out);

/// How much of the tiles is filled, 0 … 1; parts that neighbouring tiles share count once.
double filled_part(const TileChoice& choice, const TransposeAxes& axes);

/// Whether all of the tiles' output rows begin at lines of 128 bytes if the first does.
bool rows_begin_at_lines(const TileChoice& choice, const TransposeAxes& axes);

/// @param choice one that fits.
void transpose_by_tiles(CudaQueue& queue, const TileChoice& choice, const TransposeAxes& axes,
                        const std::byte* in, std::byte* out);

/// Whether the elements along one axis are neighbours on both sides, so that rows move whole, and
/// rows are short enough to be counted in 31 bits.
bool moves_rows(const TransposeAxes& axes);

/// Whether these rows are of 64 bytes to 8 KiB, and neighbours in the output, which is one run
/// then. Vectors that cross the ends of rows are written whole.
bool rows_are_run(const TransposeAxes& axes);

/// Moves rows. @param axes such that moves_rows().
void transpose_by_rows(CudaQueue& queue, const TransposeAxes& axes, const std::byte* in,
                       std::byte* out);

} // namespace runner
