// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_ring.cuh"
#include "kernels/convolve/push/convolve_push_shape.cuh"

#include <algorithm>

namespace runner::convolve_cuda {

/// How the matrix kernel is laid out: float64, both radii at most `radius`, a multiple of 4. A
/// block of 8 warps owns a strip of 128 columns and marches down it in batches of 16 rows; a warp
/// has 16 of the columns in both passes.
template <int radius_> struct MatrixShape {
    using Value = double;
    using Stored = double;
    static constexpr int radius = radius_;
    static constexpr int stages = radius <= 20 ? 5 : 4;
    static constexpr int ahead = stages - 2; ///< batches that are being copied
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

/// For the push kernel with columns of radius R − 3 to R, whose sums two threads share: the lower
/// half of the block has the upper R + 1 sums.
template <int R> struct SharedColumnsCall : AnyPushCall<double, R> {
    __device__ bool has_sum(int s) const {
        const int radius = (R + s + 1) / 2; // the least that has it in the lower half
        return radius <= R - 3 || static_cast<int>(threadIdx.x) >= MatrixShape<R>::width ||
               radius <= this->own_column_radius;
    }
};

/// What the matrix kernel is given, and what the kernels are given that make some rows again.
template <int R> struct MatrixCall {
    ConvolveImages<double> images;
    double
        padded_row[2 * R + 1]; ///< in the order in which they are applied, −0 where there is none
    double padded_column[2 * R + 1];
    RingCall<double> ring;
    SharedColumnsCall<R> push; ///< without taps where R is above 32

    __device__ int row_radius() const { return ring.row_radius; }
    __device__ int column_radius() const { return ring.column_radius; }
};

} // namespace runner::convolve_cuda
