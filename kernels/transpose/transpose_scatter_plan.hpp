// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose_axes.hpp"
#include "kernels/transpose/transpose_tiles.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// How large the tiles of the scatter kernel should be.
struct ScatterWish {
    TileFold fold = TileFold::none;
    int across_bytes = 128; ///< of an input row
    int along_bytes = 256;  ///< of an output row
    int align = 32; ///< at whose multiples a tile's part of an output row begins: 4, 16 or 32
};

/// A transposition by aligned words of 4 bytes, whatever the rows' lengths. A tile's rows come in
/// as words, whose elements go one by one to where the output wants them in shared memory, `pitch`
/// bytes from an output row to the next; its columns leave as words. Points are elements that stay
/// together.
struct ScatterPlan {
    int element_bytes = 1;
    int point = 1; ///< elements of a point
    TileFold fold = TileFold::none;
    TransposeRows a; ///< rows of the output, which an input row crosses
    TransposeRows b; ///< rows of the input
    TransposeAxis c; ///< the batch, with its strides in bytes

    int across = 1; ///< points of an input row in a tile
    int along = 1;  ///< rows of the input in a tile
    int step = 1;   ///< of these, from a tile to the next; the rest makes parts begin at `align`
    int align = 32;
    bool whole = false; ///< a tile's output rows are neighbours and whole, so that they are one run
    bool at_words = false; ///< the rows of the input begin at words
    int vector = 4; ///< bytes of an access to the output; with 16, rows in shared memory begin as
                    ///< far beyond a multiple of them as in the output
    int margin = 0; ///< points before a tile's rows that its first words reach
    int pitch = 1;
    int shared_bytes = 0;
    int in_words = 1; ///< of an input row's part, wherever it begins
    int in_lanes = 1; ///< threads side by side along it
    int out_lanes = 1;
    int group = 16; ///< tiles along the output's fastest axis before the next along the input's

    constexpr int point_bytes() const { return point * element_bytes; }
};

/// Nothing where the transposition is not of this kind, or elements have more than 4 bytes.
std::optional<ScatterPlan> plan_scatter(const TransposeAxes& axes, const ScatterWish& wish,
                                        const std::byte* in);

/// The plan where it is faster than the other kernels
/// (bench/results/transpose-2026-11-25-h200.txt): short odd rows of elements of 1 and 2 bytes that
/// a tile holds whole.
std::optional<ScatterPlan> choose_scatter(const TransposeAxes& axes, const std::byte* in);

} // namespace runner
