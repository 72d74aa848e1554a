// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/convolve_sums.cuh"
#include "kernels/convolve/push/convolve_push_rows.cuh"
#include "kernels/convolve/push/convolve_push_shape.cuh"
#include "kernels/queue/block_memory.cuh"

#include <cstdint>
#include <type_traits>

namespace runner::convolve_cuda {

/// Input of type Element: T, or an integer that T holds exactly. Output of type Out. Arguments:
/// PushCall, or AnyPushCall for radii that are known at run time. `aligned`: all rows of
/// input and output start at multiples of 16 bytes.
template <class T, int R, class Layout, class Element, class Out, class Arguments, bool aligned>
class Push {
  public:
    using Shape = PushShape<T, R, Layout, Element, Arguments::most_row_radius>;
    using Rows = PushRows<Shape, Arguments, aligned>;

    __device__ Push(const Arguments& call, const ConvolveTile& tile, unsigned char* shared)
        : call_(call), images_(call.images), tile_(tile), in_(reinterpret_cast<Element*>(shared)),
          sums_(reinterpret_cast<T*>(in_ + Shape::in_elements)),
          partials_(sums_ + Shape::sum_elements),
          rows_(call, tile, in_,
                reinterpret_cast<PushColumn*>(partials_ + Shape::partial_elements)),
          batches_((rows_.needed() + Shape::rows - 1) / Shape::rows) {}

    __device__ void run() {
        rows_.prepare();
        find_fill_rows();
        for (int k = 0; k < Shape::stages - 1; ++k) {
            rows_.load(k, k);
        }
        march_as<0>();
    }

  private:
    // Rows are counted from the first one the tile needs.

    /// Which rows lie in the frame, where the sums of others are the fill value.
    __device__ void find_fill_rows() {
        if (images_.boundary == Boundary::constant) {
            const NeededRows rows =
                rows_within(rows_.first_needed(), images_.frame_rows, rows_.needed());
            inside_ = rows.begin;
            inside_count_ = rows.end < rows.begin ? 0 : rows.end - rows.begin;
        }
    }

    template <int role> __device__ void march_as() {
        if constexpr (role + 1 < Shape::roles) {
            if (threadIdx.x >= (role + 1) * Layout::threads) {
                march_as<role + 1>();
                return;
            }
        }
        march<role>();
    }

    template <int role> __device__ void march() {
        constexpr int rest = Shape::taps - role * Shape::role_taps;
        constexpr int own = rest < Shape::role_taps ? rest : Shape::role_taps;
        T sums[own][Shape::columns];
        T carried[Shape::columns];
#pragma unroll
        for (int c = 0; c < Shape::columns; ++c) {
#pragma unroll
            for (int s = 0; s < own; ++s) {
                sums[s][c] = no_sum<T>; // also of a sum that is not among those of the radius
            }
            carried[c] = no_sum<T>;
        }
        const int column =
            (static_cast<int>(threadIdx.x) - role * Layout::threads) * Shape::columns;
        // The output that the next row completes. Its batch is one behind the row pass, and one
        // more for every role before this one.
        int row = -2 * call_.column_radius() - (1 + role) * Shape::rows;
        Out* out = static_cast<Out*>(images_.out) +
                   (tile_.frame * images_.out_rows + tile_.first_row - images_.out_first + row) *
                       images_.columns +
                   tile_.first_column + column;
        const std::int64_t left = images_.columns - tile_.first_column - column;
        const int width = static_cast<int>(left < 0                ? 0
                                           : left < Shape::columns ? left
                                                                   : Shape::columns);
        int stage = 0;
        int buffer = 0;
        for (int k = 0; k < batches_ + Shape::roles; ++k) {
            wait_for_copies<Shape::stages - 2>();
            if constexpr (Shape::roles > 1) {
                sync_roles<Shape::threads>();
            } else {
                __syncthreads();
            }
            // Before the first batch and after the last one both passes work on whatever is there:
            // no output that is stored takes part, and without branches they overlap.
            const int from = buffer - 1 - role + (buffer <= role ? Shape::sum_buffers : 0);
            column_pass_of_radius<role, own, R>(
                sums, carried, sums_ + from * Shape::rows * Shape::sum_pitch + column,
                (k - 1 - role) & 1, row, width, out);
            // Between the passes: behind the barrier all warps would copy at once, and then wait.
            rows_.load(k + Shape::stages - 1, stage == 0 ? Shape::stages - 1 : stage - 1);
            row_pass(k * Shape::rows, in_ + stage * Shape::rows * Shape::in_pitch,
                     sums_ + buffer * Shape::rows * Shape::sum_pitch);
            row += Shape::rows;
            stage = stage + 1 == Shape::stages ? 0 : stage + 1;
            buffer = buffer + 1 == Shape::sum_buffers ? 0 : buffer + 1;
        }
    }

    /// Neighbouring row sums of one row a thread and task; neighbouring lanes take different rows.
    __device__ void row_pass(int row, const Element* in, T* sums) {
        constexpr int groups = Shape::width / Shape::outputs;
#pragma unroll
        for (int t = 0; t < Shape::tasks; ++t) {
            const int task = static_cast<int>(threadIdx.x) + t * Shape::threads;
            const int r = task % 8 + task / (8 * groups) * 8;
            const int c = task / 8 % groups * Shape::outputs;
            T sum[Shape::outputs];
            row_sums<Shape, Rows::is_shifted>(call_, in + r * Shape::in_pitch + c,
                                              rows_.shift(row + r), sum);
            T* to = sums + r * Shape::sum_pitch + c;
#pragma unroll
            for (int p = 0; p < Shape::outputs; p += Shape::vector) {
                Vector<T> values;
#pragma unroll
                for (int e = 0; e < Shape::vector; ++e) {
                    values.at[e] = sum[p + e];
                }
                *reinterpret_cast<Vector<T>*>(to + p) = values;
            }
            if (static_cast<unsigned>(row + r - inside_) >= static_cast<unsigned>(inside_count_)) {
                // A loop, so that the common case is a branch and no choice for every sum.
#pragma unroll 1
                for (int p = 0; p < Shape::outputs; ++p) {
                    to[p] = images_.fill;
                }
            }
        }
    }

    /// The column pass for the columns' radius, `radius` or a smaller one: a branch a batch and
    /// none a row.
    template <int role, int own, int radius>
    __device__ void column_pass_of_radius(T (&sums)[own][Shape::columns],
                                          T (&carried)[Shape::columns], const T* from, int half,
                                          int row, int width, Out*& out) {
        if constexpr (knows_radii) {
            if constexpr (radius > Arguments::least_column_radius) {
                if (call_.column_radius() < radius) {
                    column_pass_of_radius<role, own, radius - 1>(sums, carried, from, half, row,
                                                                 width, out);
                    return;
                }
            }
        }
        column_pass<role, own, radius>(sums, carried, from, half, row, width, out);
    }

    template <int radius> __device__ bool has_sum(int s) const {
        return knows_radii ? (s + 1) / 2 <= radius : call_.has_sum(s);
    }

    /// Bit b: row b of a batch completes an output of the tile; `row` is the output that its first
    /// row completes.
    __device__ unsigned completed_rows(int row, int width) const {
        const int rows = static_cast<int>(tile_.rows);
        const unsigned all = width > 0 ? 0xffffffffU : 0U;
        if (row >= 0 && row + Shape::rows <= rows) {
            return all;
        }
        const int begin = row < 0 ? -row : 0;
        const int end = rows - row;
        const unsigned after = begin < 32 ? 0xffffffffU << begin : 0U;
        const unsigned before = end >= 32 ? 0xffffffffU : end > 0 ? (1U << end) - 1U : 0U;
        return all & after & before;
    }

    /// Adds a batch of row sums to the running sums of the thread's columns; stores the outputs
    /// completed. `row` is the output that the batch's first row completes.
    template <int role, int own, int radius>
    __device__ void column_pass(T (&sums)[own][Shape::columns], T (&carried)[Shape::columns],
                                const T* from, int half, int row, int width, Out*& out) {
        constexpr bool last = role + 1 == Shape::roles;
        unsigned completes = completed_rows(row, width);
        const int column =
            (static_cast<int>(threadIdx.x) - role * Layout::threads) * Shape::columns;
        T* passed_on = partials_ + (role * 2 + half) * Shape::rows * Shape::width + column;
        const T* taken_over =
            partials_ + ((role - 1) * 2 + half) * Shape::rows * Shape::width + column;
#pragma unroll 1
        for (int first = 0; first < Shape::rows; first += Layout::unroll) {
#pragma unroll
            for (int u = 0; u < Layout::unroll; ++u) {
                const int b = first + u;
                T x[Shape::columns];
                load_columns(x, from + b * Shape::sum_pitch);
                add_row<role, own, radius>(sums, carried, x);
                if constexpr (role > 0) {
                    load_columns(carried, taken_over + b * Shape::width);
                }
                if constexpr (last) {
                    if (completes >> u & 1U) {
                        store_outputs(out, sums[0], width);
                    }
                    out += images_.columns;
                } else {
                    store_columns(passed_on + b * Shape::width, sums[0]);
                }
            }
            completes >>= Layout::unroll;
        }
    }

    /// Adds a row to the running sums and shifts them by one place.
    template <int role, int own, int radius>
    __device__ void add_row(T (&sums)[own][Shape::columns], const T (&carried)[Shape::columns],
                            const T (&x)[Shape::columns]) {
        constexpr int first = role * Shape::role_taps;
#pragma unroll
        for (int s = 0; s + 1 < own; ++s) {
            if (!has_sum<radius>(s)) {
                continue;
            }
#pragma unroll
            for (int c = 0; c < Shape::columns; ++c) {
                sums[s][c] = multiply_add(call_.column[first + own - 1 - s], x[c], sums[s + 1][c]);
            }
        }
#pragma unroll
        for (int c = 0; c < Shape::columns; ++c) {
            if (has_sum<radius>(own - 1)) {
                sums[own - 1][c] = role == 0 ? multiply(call_.column[0], x[c])
                                             : multiply_add(call_.column[first], x[c], carried[c]);
            }
        }
    }

    struct alignas(Shape::columns * sizeof(T)) Columns {
        T at[Shape::columns];
    };
    static __device__ void load_columns(T (&to)[Shape::columns], const T* from) {
        const Columns values = *reinterpret_cast<const Columns*>(from);
#pragma unroll
        for (int c = 0; c < Shape::columns; ++c) {
            to[c] = values.at[c];
        }
    }
    static __device__ void store_columns(T* to, const T (&from)[Shape::columns]) {
        Columns values;
#pragma unroll
        for (int c = 0; c < Shape::columns; ++c) {
            values.at[c] = from[c];
        }
        *reinterpret_cast<Columns*>(to) = values;
    }

    /// `width`: how many of the thread's columns lie in the image.
    static __device__ void store_outputs(Out* to, const T (&from)[Shape::columns], int width) {
        if constexpr (aligned || Shape::columns == 1) {
            struct alignas(Shape::columns * sizeof(Out)) Outputs {
                Out at[Shape::columns];
            } values;
#pragma unroll
            for (int c = 0; c < Shape::columns; ++c) {
                values.at[c] = to_output<Out>(from[c]);
            }
            *reinterpret_cast<Outputs*>(to) = values;
        } else {
#pragma unroll
            for (int c = 0; c < Shape::columns; ++c) {
                if (c < width) {
                    to[c] = to_output<Out>(from[c]);
                }
            }
        }
    }

    /// Whether the column pass is compiled for every radius that a call may have. For
    /// float64 it would be 6 to 9 % faster, and take as many seconds to compile.
    static constexpr bool knows_radii =
        sizeof(T) == 4 && R <= 32 && std::is_same_v<Arguments, AnyPushCall<T, R>>;

    const Arguments& call_;
    const ConvolveImages<T>& images_;
    const ConvolveTile& tile_;
    Element* in_;
    T* sums_;
    T* partials_;
    Rows rows_;
    int batches_;
    int inside_ = 0; ///< the first row that is not a fill row, and how many there are
    int inside_count_ = 1 << 30;
};

} // namespace runner::convolve_cuda
