// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/convolve_push_shape.cuh"
#include "kernels/convolve/convolve_sums.cuh"
#include "kernels/convolve/tiling.cuh"
#include "kernels/queue/block_barrier.cuh"
#include "kernels/queue/copy_async.cuh"

#include <cstdint>

namespace runner::convolve_cuda {

/// Input and output are of type Element: T, or an integer that T holds exactly. Arguments:
/// PushArguments, or AnyPushArguments for radii that are known at run time.
template <class T, int R, class Layout, class Element, class Arguments> class Push {
  public:
    using Shape = PushShape<T, R, Layout, Element, Arguments::most_row_radius>;

    __device__ Push(const Arguments& arguments, const ConvolveTile& tile, unsigned char* shared)
        : arguments_(arguments), view_(arguments.view), tile_(tile),
          in_(reinterpret_cast<Element*>(shared)),
          sums_(reinterpret_cast<T*>(in_ + Shape::in_elements)),
          partials_(sums_ + Shape::sum_elements),
          columns_(reinterpret_cast<PushColumn*>(partials_ + Shape::partial_elements)),
          needed_(static_cast<int>(tile.rows) + 2 * arguments.column_radius()),
          batches_((needed_ + Shape::rows - 1) / Shape::rows) {}

    __device__ void run() {
        prepare_loads();
        for (int k = 0; k < Shape::stages - 1; ++k) {
            load(k, k);
        }
        if (Shape::columns == 1 || view_.out_aligned) {
            march_as<0, true>();
        } else {
            march_as<0, false>();
        }
    }

  private:
    // Rows are counted from the first one the tile needs.

    __device__ std::int64_t first_needed() const {
        return tile_.first_row - arguments_.column_radius();
    }

    __device__ void prepare_loads() {
        const int radius = arguments_.row_radius();
        const std::int64_t start = tile_.first_column - Shape::halo;
        const std::int64_t end = view_.columns - start;
        const int inside = start < 0 ? static_cast<int>(-start) : 0;
        const int inside_end = static_cast<int>(end < Shape::in_width ? end : Shape::in_width);
        // Columns further outside than the radius are needed by no output.
        const int needed_end =
            inside_end + radius < Shape::in_width ? inside_end + radius : Shape::in_width;
        const int needed = Shape::halo - radius < inside ? Shape::halo - radius : inside;
        const int left = inside - needed;
        outside_ = left + needed_end - inside_end;
        for (int i = static_cast<int>(threadIdx.x); i < outside_; i += Shape::threads) {
            const int at = i < left ? needed + i : i - left + inside_end;
            columns_[i] = {at, map_index(start + at, view_.columns, view_.boundary)};
        }
        step_ = view_.aligned ? Shape::in_vector : 1;
        const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
        for (int i = 0; i < Shape::in_width; i += 32) {
            const int at = (i + lane) * step_;
            const bool wanted = at >= inside && at < inside_end &&
                                at + step_ > Shape::halo - radius &&
                                at < Shape::halo + Shape::width + radius;
            own_pieces_ |= wanted ? 1U << (i / 32) : 0U;
        }
        const std::int64_t first = first_held();
        const std::int64_t held = view_.in_rows - first; // rows from the first needed one on
        direct_ = static_cast<int>(first >= 0 ? 0 : first < -needed_ ? needed_ : -first);
        direct_count_ = static_cast<int>(held < 0 ? 0 : held < needed_ ? held : needed_) - direct_;
        from_ = static_cast<const Element*>(view_.in) +
                (tile_.frame * view_.in_rows + first + threadIdx.x / 32) * view_.columns + start +
                lane * step_;
        __syncthreads();
    }

    /// Where the input buffer would hold the first needed row under its own number.
    __device__ std::int64_t first_held() const { return first_needed() - view_.in_first; }

    /// Starts the copy of batch k into a stage, a warp a row. Batches come in order.
    __device__ void load(int k, int stage) {
        constexpr int warps = Shape::threads / 32;
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warp = static_cast<int>(threadIdx.x) / 32;
        Element* to = in_ + (stage * Shape::rows + warp) * Shape::in_pitch + lane * step_;
        const Element* from = from_;
        from_ += Shape::rows * view_.columns;
#pragma unroll 1
        for (int r = warp; r < Shape::rows; r += warps) {
            const int row = k * Shape::rows + r;
            bool wanted = row < needed_; // others may be held nowhere
            const Element* source = from;
            if (wanted &&
                static_cast<unsigned>(row - direct_) >= static_cast<unsigned>(direct_count_)) {
                const std::int64_t held = held_row(view_, first_needed() + row);
                // Rows that taps of a padded kernel reach may not be held: these taps are 0.
                wanted = held >= 0 && held < view_.in_rows;
                source += (held - first_held() - row) * view_.columns;
            }
            if (wanted) {
                load_row(to, source);
                if (outside_ > 0) {
                    load_outside(to - lane * step_, source - lane * step_, lane);
                }
            }
            to += warps * Shape::in_pitch;
            from += warps * view_.columns;
        }
        commit_copies();
    }

    /// The columns of a row that lie in the image; both pointers are at this lane's first piece.
    __device__ void load_row(Element* to, const Element* from) {
        if (view_.aligned) {
            load_vectors(to, from);
        } else {
#pragma unroll
            for (int i = 0; i < Shape::in_width; i += 32) {
                if (own_pieces_ >> (i / 32) & 1U) {
                    copy_element(to + i, from + i);
                }
            }
        }
    }

    static __device__ void copy_element(Element* to, const Element* from) {
        if constexpr (sizeof(Element) >= 4) {
            copy_async<sizeof(Element)>(to, from);
        } else {
            *to = *from; // there are no asynchronous copies of 1 and 2 bytes
        }
    }

    __device__ void load_vectors(Element* to, const Element* from) {
#pragma unroll
        for (int i = 0; i < Shape::in_width; i += 32 * Shape::in_vector) {
            if (own_pieces_ >> (i / 32 / Shape::in_vector) & 1U) {
                copy_async<16>(to + i, from + i);
            }
        }
    }

    /// The columns beyond the image's border; both pointers are at the first column of the strip
    /// and its halo.
    __device__ void load_outside(Element* to, const Element* from, int lane) {
#pragma unroll 1
        for (int i = lane; i < outside_; i += 32) {
            const PushColumn column = columns_[i];
            if (column.held >= 0) {
                copy_element(to + column.at,
                             from + (Shape::halo - tile_.first_column + column.held));
            } else {
                to[column.at] = static_cast<Element>(view_.fill);
            }
        }
    }

    template <int role, bool vectors> __device__ void march_as() {
        if constexpr (role + 1 < Shape::roles) {
            if (threadIdx.x >= (role + 1) * Layout::threads) {
                march_as<role + 1, vectors>();
                return;
            }
        }
        march<role, vectors>();
    }

    template <int role, bool vectors> __device__ void march() {
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
        int row = -2 * arguments_.column_radius() - (1 + role) * Shape::rows;
        Element* out = static_cast<Element*>(view_.out) +
                       (tile_.frame * view_.out_rows + tile_.first_row - view_.out_first + row) *
                           view_.columns +
                       tile_.first_column + column;
        const std::int64_t left = view_.columns - tile_.first_column - column;
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
            load(k + Shape::stages - 1, stage == 0 ? Shape::stages - 1 : stage - 1);
            // Before the first batch and after the last one both passes work on whatever is there:
            // no output that is stored takes part, and without branches they overlap.
            const int from = buffer - 1 - role + (buffer <= role ? Shape::sum_buffers : 0);
            column_pass<role, own, vectors>(sums, carried,
                                            sums_ + from * Shape::rows * Shape::sum_pitch + column,
                                            (k - 1 - role) & 1, row, width, out);
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
            row_sums<Shape>(arguments_, in + r * Shape::in_pitch + c, sum);
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
            if (is_fill_row(view_, first_needed() + row + r)) {
                // A loop, so that the common case is a branch and no choice for every sum.
#pragma unroll 1
                for (int p = 0; p < Shape::outputs; ++p) {
                    to[p] = view_.fill;
                }
            }
        }
    }

    /// Adds a batch of row sums to the running sums of the thread's columns; stores the outputs
    /// completed. `row` is the output that the batch's first row completes.
    template <int role, int own, bool vectors>
    __device__ void column_pass(T (&sums)[own][Shape::columns], T (&carried)[Shape::columns],
                                const T* from, int half, int row, int width, Element*& out) {
        constexpr int first = role * Shape::role_taps;
        constexpr bool last = role + 1 == Shape::roles;
        // Bit b: row b of the batch completes an output of the tile.
        const int begin = row < 0 ? -row : 0;
        const int end = static_cast<int>(tile_.rows) - row;
        const unsigned after = begin < 32 ? 0xffffffffU << begin : 0U;
        const unsigned before = end >= 32 ? 0xffffffffU : end > 0 ? (1U << end) - 1U : 0U;
        const unsigned completes = width > 0 ? after & before : 0U;
        const int column =
            (static_cast<int>(threadIdx.x) - role * Layout::threads) * Shape::columns;
        T* passed_on = partials_ + (role * 2 + half) * Shape::rows * Shape::width + column;
        const T* taken_over =
            partials_ + ((role - 1) * 2 + half) * Shape::rows * Shape::width + column;
#pragma unroll Layout::unroll
        for (int b = 0; b < Shape::rows; ++b) {
            T x[Shape::columns];
            load_columns(x, from + b * Shape::sum_pitch);
#pragma unroll
            for (int s = 0; s + 1 < own; ++s) {
                if (!arguments_.has_sum(s)) {
                    continue;
                }
#pragma unroll
                for (int c = 0; c < Shape::columns; ++c) {
                    sums[s][c] =
                        multiply_add(arguments_.column[first + own - 1 - s], x[c], sums[s + 1][c]);
                }
            }
#pragma unroll
            for (int c = 0; c < Shape::columns; ++c) {
                if (arguments_.has_sum(own - 1)) {
                    sums[own - 1][c] =
                        role == 0 ? multiply(arguments_.column[0], x[c])
                                  : multiply_add(arguments_.column[first], x[c], carried[c]);
                }
            }
            if constexpr (role > 0) {
                load_columns(carried, taken_over + b * Shape::width);
            }
            if constexpr (!last) {
                store_columns(passed_on + b * Shape::width, sums[0]);
            } else {
                if (completes >> b & 1U) {
                    if constexpr (vectors) {
                        store_outputs(out, sums[0]);
                    } else {
#pragma unroll
                        for (int c = 0; c < Shape::columns; ++c) {
                            if (c < width) {
                                out[c] = to_output<Element>(sums[0][c]);
                            }
                        }
                    }
                }
                out += view_.columns;
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

    static __device__ void store_outputs(Element* to, const T (&from)[Shape::columns]) {
        struct alignas(Shape::columns * sizeof(Element)) Outputs {
            Element at[Shape::columns];
        } values;
#pragma unroll
        for (int c = 0; c < Shape::columns; ++c) {
            values.at[c] = to_output<Element>(from[c]);
        }
        *reinterpret_cast<Outputs*>(to) = values;
    }

    const Arguments& arguments_;
    const ConvolveView<T>& view_;
    const ConvolveTile& tile_;
    Element* in_;
    T* sums_;
    T* partials_;
    PushColumn* columns_; ///< those beyond the image's border
    int needed_;          ///< input rows
    int batches_;
    int direct_ = 0; ///< the first row held under its own number, and how many there are
    int direct_count_ = 0;
    int outside_ = 0;         ///< columns of the strip and its halo beyond the image's border
    int step_ = 1;            ///< elements that are copied as one piece
    unsigned own_pieces_ = 0; ///< bit i: piece 32 i + lane of a row lies in the image
    const Element* from_ =
        nullptr; ///< this lane's first piece of its warp's first row of the next batch
};

} // namespace runner::convolve_cuda
