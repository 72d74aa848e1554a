// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_push_shape.cuh"

#include <algorithm>

namespace runner::convolve_cuda {

/// How the matrix kernel is laid out: float64, both radii at most `radius`, a multiple of 4. A
/// block of 8 warps owns a strip of 128 columns and marches down it in batches of 16 rows; a warp
/// has 16 of the columns in both passes.
template <int radius_, int stages_ = 2> struct MatrixShape {
    using Value = double;
    using Stored = double;
    static constexpr int radius = radius_;
    /// Whether columns always have that radius: registers are too few for a question at run time.
    static constexpr bool full_columns = radius >= 32;
    static constexpr int stages = stages_;
    static constexpr int threads = 256;
    static constexpr int rows = 16;         ///< of a batch
    static constexpr int warp_columns = 16; ///< of a warp
    static constexpr int width = threads / 32 * warp_columns;
    static constexpr int chunks = radius / 4 + 1; ///< eights of elements that eight outputs meet
    static constexpr int taps = 2 * radius + 1;
    static constexpr int places = taps + 14; ///< of taps in shared memory: 7 zeros at either end
    static constexpr int in_vector = 2;
    static constexpr int halo = radius;
    static constexpr int in_width = width + 2 * halo;
    // 32 bytes past a multiple of 128: four rows of four neighbouring elements, or of two pairs,
    // lie in different banks.
    static constexpr int in_pitch = (in_width + 11) / 16 * 16 + 4;
    static constexpr int sum_pitch = width + 4;
    static constexpr int in_elements = stages * rows * in_pitch;
    static constexpr int sum_elements = rows * sum_pitch;
    static_assert(radius % 4 == 0 && in_pitch >= in_width);
};

/// What the matrix kernel is given, and what the exact kernel that a tile falls back to is given.
template <int R, class Exact> struct MatrixArguments : Exact {
    double
        padded_row[2 * R + 1]; ///< in the order in which they are applied, −0 where there is none
    double padded_column[2 * R + 1];
};

} // namespace runner::convolve_cuda
