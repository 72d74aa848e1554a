// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_images.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

namespace runner::convolve_cuda {

/// How a push kernel is laid out.
template <int threads_, int columns_, int outputs_, int rows_, int roles_, int stages_, int blocks_,
          int unroll_>
struct PushLayout {
    static constexpr int threads = threads_; ///< that share a strip of columns, of one role
    static constexpr int columns = columns_; ///< of a thread in the column pass
    static constexpr int outputs = outputs_; ///< of a thread in the row pass
    static constexpr int rows = rows_;       ///< of a batch
    static constexpr int roles = roles_;     ///< threads that share a column
    static constexpr int stages = stages_;   ///< batches of input rows in shared memory
    static constexpr int blocks = blocks_;   ///< that a multiprocessor should hold
    static constexpr int unroll = unroll_;   ///< rows that the column pass has code for
};

/// The layouts that were fastest on an H200, of those tried (docs/kernels-convolve.md).
template <class T, int R, class Element, class Out> constexpr auto push_layout() {
    constexpr int least = sizeof(Out) == 1 ? 2 : 1;
    constexpr int most = sizeof(Element) == 1 ? 16 : 12;
    if constexpr (sizeof(Element) < sizeof(T) && R >= least && R <= most) {
        return PushLayout<256, 2, 32, 16, 1, 2, 2, 8>{};
    } else if constexpr (sizeof(T) == 4) {
        if constexpr (sizeof(Element) == 4 && R <= 8) {
            return PushLayout<192, 2, 32, 16, 1, 2, 2, 8>{};
        } else if constexpr (R >= 9 && R <= 12) {
            return PushLayout<128, 4, 16, 8, 1, 2, 3, 4>{};
        } else if constexpr (R <= 16) {
            return PushLayout<128, 2, 16, 8, 1, 3, 4, 8>{};
        } else if constexpr (R <= 32) {
            return PushLayout<256, 1, 16, 16, 1, 2, 2, 8>{};
        } else {
            return PushLayout<256, 1, 16, 16, 1, 2, 1, 8>{};
        }
    } else {
        if constexpr (R <= 12) {
            return PushLayout<256, 1, 8, 8, 1, 3, 2, 8>{};
        } else if constexpr (R <= 20) {
            return PushLayout<128, 1, 8, 8, 1, 3, 3, 8>{};
        } else if constexpr (R <= 32) {
            return PushLayout<128, 1, 8, 8, 1, 2, 2, 4>{};
        } else {
            return PushLayout<128, 1, 4, 8, 2, 2, 1, 2>{};
        }
    }
}

/// As push_layout(), with multiples of eight outputs of a thread in the row pass.
template <class T, int R> constexpr auto any_push_layout() {
    if constexpr (sizeof(T) == 4 && R <= 16) {
        return PushLayout<128, 2, 16, 8, 1, 3, 4, 8>{};
    } else {
        // R 12: 0.75 to 0.80 of the time that two blocks of 256 threads take.
        return push_layout<T, (R == 12 ? 16 : R), T, T>();
    }
}

/// A column of a strip and its halo, most often one beyond the image's border: its place among
/// these, and the column of the image that it stands for, −1 for the fill value.
struct PushColumn {
    std::int64_t at;
    std::int64_t held;
};

/// Both passes of a convolution with radius R in one sweep, or with radii that are known at run
/// time, of which the columns' is not above R and the rows' not above RowRadius. A block of threads
/// owns a strip of columns and marches down its rows in batches. Three stages run side by side, one
/// barrier a batch: rows are copied into shared memory (a ring, asynchronously); the row pass,
/// register blocked, turns a batch into row sums in shared memory; the column pass keeps, per
/// column, the running sums of all 2R + 1 outputs that the current row adds to. A row shifts them
/// by one place, which costs nothing because a multiply-add may write to another register than it
/// reads. Where 2R + 1 sums are too many for one thread, `roles` threads share a column: each
/// applies its part of the taps and hands the partial sums to the next, which lags by a batch.
/// Rows stay elements of the images in the ring; the row pass converts them to T, and the store of
/// the column pass back.
template <class T, int R, class Layout, class Element, int RowRadius = R> struct PushShape {
    using Value = T;
    using Stored = Element;
    static constexpr int taps = 2 * R + 1;
    static constexpr int columns = Layout::columns;
    static constexpr int outputs = Layout::outputs;
    static constexpr int rows = Layout::rows;
    static constexpr int roles = Layout::roles;
    static constexpr int stages = Layout::stages;
    static constexpr int width = Layout::threads * columns;
    static constexpr int threads = Layout::threads * roles;
    static constexpr int tasks = rows * width / outputs / threads; // of a thread in the row pass
    static constexpr int role_taps = (taps + roles - 1) / roles;
    static constexpr int vector = 16 / static_cast<int>(sizeof(T));
    static constexpr int in_vector = 16 / static_cast<int>(sizeof(Element)); // copied as one piece
    static constexpr int read_vector = in_vector < outputs ? in_vector : outputs;
    static constexpr int halo = (RowRadius + in_vector - 1) / in_vector * in_vector;
    static constexpr int in_width = width + 2 * halo;
    // 16 bytes past a multiple of 128: the eight rows that eight neighbouring lanes read lie in
    // different banks.
    static constexpr int line = 128 / static_cast<int>(sizeof(T));
    static constexpr int in_line = 128 / static_cast<int>(sizeof(Element));
    static constexpr int in_pitch = (in_width + in_line - 1) / in_line * in_line + in_vector;
    static constexpr int sum_pitch = (width + line - 1) / line * line + vector;
    static constexpr int sum_buffers = roles + 1;
    /// Columns that PushRows lists: those beyond the image's border, and a few pieces within it.
    static constexpr int most_listed = 2 * halo + 4 * in_vector;
    static constexpr int in_elements = stages * rows * in_pitch;
    static constexpr int sum_elements = sum_buffers * rows * sum_pitch;
    static constexpr int partial_elements = (roles - 1) * 2 * rows * width;
    static constexpr int shared_bytes =
        in_elements * static_cast<int>(sizeof(Element)) +
        (sum_elements + partial_elements) * static_cast<int>(sizeof(T)) +
        most_listed * static_cast<int>(sizeof(PushColumn));
    static_assert(Layout::threads % 32 == 0 && outputs % vector == 0 && rows % 8 == 0 &&
                  rows % Layout::unroll == 0);
    static_assert(tasks * outputs * threads == rows * width && rows <= 32 && columns <= vector);
    static_assert(in_width <= 32 * 32);
};

/// What a kernel with radius R on both axes is given.
template <class T, int R> struct PushCall {
    static constexpr int most_row_radius = R;
    ConvolveImages<T> images;
    T row[2 * R + 1]; ///< reversed: in the order in which they are applied
    T column[2 * R + 1];

    __host__ __device__ static constexpr int row_radius() { return R; }
    __host__ __device__ static constexpr int column_radius() { return R; }
    /// Whether a column has running sum `s`.
    __device__ static constexpr bool has_sum(int /*s*/) { return true; }
};

/// What a kernel for radii that are known at run time is given: columns of radius R − 3 to R (from
/// 0 for the least R, 4, from R − 7 above 32), rows of any radius up to 64. Taps that a radius does
/// not have are not applied: 0 · inf is not 0.
template <class T, int R> struct AnyPushCall {
    static constexpr int most_row_radius = 64;
    static constexpr int least_column_radius = R == 4 ? 0 : R <= 32 ? R - 3 : R - 7;

    ConvolveImages<T> images;
    int own_row_radius;
    int own_column_radius;
    /// In the order in which they are applied, behind as many places without a tap as the row's
    /// radius is below the next multiple of 4.
    alignas(16) T row[2 * most_row_radius + 1];
    T column[2 * R + 1]; ///< in that order; the last is the last place

    __host__ __device__ int row_radius() const { return own_row_radius; }
    __host__ __device__ int column_radius() const { return own_column_radius; }
    /// Whether a column has running sum `s`.
    __device__ bool has_sum(int s) const {
        const int radius = (s + 1) / 2; // the least that has it
        return radius <= least_column_radius || radius <= own_column_radius;
    }
    /// Fours of taps to either side of a row's centre.
    __host__ __device__ int row_fours() const {
        return own_row_radius <= 4 ? 1 : (own_row_radius + 3) / 4;
    }
    /// Places without a tap at either end of `row`.
    __host__ __device__ int row_skipped() const { return 4 * row_fours() - own_row_radius; }
};

/// Whether blocks take equal shares of the image instead of tiles one after the other: where
/// multiply-adds bound a kernel, all blocks take the same time for the same work. Where memory
/// does, tiles side by side share what they read.
template <class T, int R, class Element, class Arguments>
constexpr bool
    push_in_shares = sizeof(T) == 4 && R >= (sizeof(Element) < sizeof(T)                    ? 8
                                             : std::is_same_v<Arguments, AnyPushCall<T, R>> ? 12
                                                                                            : 13);

/// Taps in the order in which they are applied; the radii are those that the call is for.
template <class T, int R>
void set_taps(AnyPushCall<T, R>& call, const std::vector<T>& row_taps,
              const std::vector<T>& column_taps) {
    call.own_row_radius = static_cast<int>(row_taps.size() / 2);
    call.own_column_radius = static_cast<int>(column_taps.size() / 2);
    std::copy(row_taps.begin(), row_taps.end(), call.row + call.row_skipped());
    std::copy_backward(column_taps.begin(), column_taps.end(), std::end(call.column));
}

} // namespace runner::convolve_cuda
