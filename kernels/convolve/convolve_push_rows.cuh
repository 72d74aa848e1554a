// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/convolve_push_shape.cuh"
#include "kernels/queue/copy_async.cuh"

#include <cstdint>

namespace runner::convolve_cuda {

/// Copies the rows that a tile needs into the ring of a push kernel's block, a batch at a time and
/// a warp a row. Rows are counted from the first one the tile needs.
template <class Shape, class Arguments> class PushRows {
  public:
    using T = typename Shape::Value;
    using Element = typename Shape::Stored;

    /// `columns` has room for Shape::in_width of them. No thread may still read the ring.
    __device__ PushRows(const Arguments& arguments, const ConvolveTile& tile, Element* ring,
                        PushColumn* columns)
        : arguments_(arguments), view_(arguments.view), tile_(tile), ring_(ring), columns_(columns),
          needed_(static_cast<int>(tile.rows) + 2 * arguments.column_radius()) {}

    __device__ int needed() const { return needed_; }

    __device__ std::int64_t first_needed() const {
        return tile_.first_row - arguments_.column_radius();
    }

    /// To be called once, by all threads, before load().
    __device__ void prepare() {
        const std::int64_t start = tile_.first_column - Shape::halo;
        list_outside(start);
        const std::int64_t first = first_held();
        const std::int64_t held = view_.in_rows - first; // rows from the first needed one on
        direct_ = static_cast<int>(first >= 0 ? 0 : first < -needed_ ? needed_ : -first);
        direct_count_ = static_cast<int>(held < 0 ? 0 : held < needed_ ? held : needed_) - direct_;
        plain_end_ = view_.aligned ? direct_ + direct_count_ : 0;
        from_ = static_cast<const Element*>(view_.in) +
                (tile_.frame * view_.in_rows + first + threadIdx.x / 32) * view_.columns + start +
                lane() * step_;
        __syncthreads();
    }

    /// Starts the copy of batch k into a stage. Batches come in order.
    __device__ void load(int k, int stage) {
        Element* to = ring_ + (stage * Shape::rows + warp()) * Shape::in_pitch + lane() * step_;
        const Element* from = from_;
        from_ += Shape::rows * view_.columns;
        if (k * Shape::rows >= direct_ && (k + 1) * Shape::rows <= plain_end_) {
            load_plain(to, from);
        } else {
            load_any(k, to, from);
        }
        commit_copies();
    }

  private:
    static constexpr int warps = Shape::threads / 32;

    static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
    static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }

    /// Where the input buffer would hold the first needed row under its own number.
    __device__ std::int64_t first_held() const { return first_needed() - view_.in_first; }

    /// Of the strip and its halo, from column `start` on: which columns lie beyond the image's
    /// border and which of this lane's pieces lie within it.
    __device__ void list_outside(std::int64_t start) {
        const int radius = arguments_.row_radius();
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
#pragma unroll
        for (int i = 0; i < Shape::in_width; i += 32) {
            const int at = (i + lane()) * step_;
            const bool wanted = at >= inside && at < inside_end &&
                                at + step_ > Shape::halo - radius &&
                                at < Shape::halo + Shape::width + radius;
            own_pieces_ |= wanted ? 1U << (i / 32) : 0U;
        }
    }

    /// Rows that the input holds one below the other, all at multiples of 16 bytes: nearly all. The
    /// pointers are at this lane's first piece of its warp's first row.
    __device__ void load_plain(Element* to, const Element* from) {
        const Element* source = from;
#pragma unroll
        for (int r = 0; r < Shape::rows; r += warps) {
            if (has_row(r)) {
                load_vectors(to + r * Shape::in_pitch, source);
            }
            source += warps * view_.columns;
        }
        if (outside_ > 0) {
            load_outside<Shape::rows>(to - lane() * step_, from - lane() * step_);
        }
    }

    /// Whether this warp's row at place `r` is one of the batch.
    static __device__ bool has_row(int r) {
        return Shape::rows % warps == 0 || r + warp() < Shape::rows;
    }

    /// As load_plain() for any rows.
    __device__ void load_any(int k, Element* to, const Element* from) {
#pragma unroll 1
        for (int r = warp(); r < Shape::rows; r += warps) {
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
                    load_outside<1>(to - lane() * step_, source - lane() * step_);
                }
            }
            to += warps * Shape::in_pitch;
            from += warps * view_.columns;
        }
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

    __device__ void load_vectors(Element* to, const Element* from) {
#pragma unroll
        for (int i = 0; i < Shape::in_width; i += 32 * Shape::in_vector) {
            if (own_pieces_ >> (i / 32 / Shape::in_vector) & 1U) {
                copy_async<16>(to + i, from + i);
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

    /// The columns beyond the image's border, of this warp's rows of a batch of `rows`. Both
    /// pointers are at the first column of the strip and its halo, in the first of these rows.
    template <int rows> __device__ void load_outside(Element* to, const Element* from) {
#pragma unroll 1
        for (int i = lane(); i < outside_; i += 32) {
            const PushColumn column = columns_[i];
            const Element* source = from + (Shape::halo - tile_.first_column + column.held);
#pragma unroll
            for (int r = 0; r < rows; r += warps) {
                Element* at = to + r * Shape::in_pitch + column.at;
                if (rows > 1 && !has_row(r)) {
                    break;
                }
                if (column.held >= 0) {
                    copy_element(at, source);
                } else {
                    *at = static_cast<Element>(view_.fill);
                }
                source += warps * view_.columns;
            }
        }
    }

    const Arguments& arguments_;
    const ConvolveView<T>& view_;
    const ConvolveTile& tile_;
    Element* ring_;
    PushColumn* columns_; ///< those beyond the image's border
    int needed_;
    int direct_ = 0; ///< the first row held under its own number, and how many there are
    int direct_count_ = 0;
    int plain_end_ = 0;       ///< behind the last row that load_plain() may take
    int outside_ = 0;         ///< columns of the strip and its halo beyond the image's border
    int step_ = 1;            ///< elements that are copied as one piece
    unsigned own_pieces_ = 0; ///< bit i: piece 32 i + lane of a row lies in the image
    const Element* from_ =
        nullptr; ///< this lane's first piece of its warp's first row of the next batch
};

} // namespace runner::convolve_cuda
