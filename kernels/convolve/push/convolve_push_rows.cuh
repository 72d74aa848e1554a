// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/push/convolve_push_shape.cuh"
#include "kernels/queue/block_memory.cuh"

#include <cstdint>

namespace runner::convolve_cuda {

/// Copies the rows that a tile needs into the ring of a push kernel's block, a batch at a time and
/// a warp a row. Rows are counted from the first one the tile needs, columns from the first one of
/// the strip's halo. `aligned`: every row of the input starts at a multiple of 16 bytes, and 16
/// bytes are copied as one. Otherwise 4 bytes are, or a larger element. Several elements are then
/// copied as they lie between multiples of 4 bytes: a row begins shift() elements further on in the
/// ring.
template <class Shape, class Arguments, bool aligned> class PushRows {
  public:
    using T = typename Shape::Value;
    using Element = typename Shape::Stored;
    /// Elements that are copied as one.
    static constexpr int piece = aligned               ? Shape::in_vector
                                 : sizeof(Element) < 4 ? 4 / static_cast<int>(sizeof(Element))
                                                       : 1;
    static constexpr bool is_shifted = !aligned && piece > 1;

    /// `columns` has room for Shape::most_listed of them. No thread may still read the ring.
    __device__ PushRows(const Arguments& call, const ConvolveTile& tile, Element* ring,
                        PushColumn* columns)
        : call_(call), images_(call.images), tile_(tile), ring_(ring), columns_(columns),
          needed_(static_cast<int>(tile.rows) + 2 * call.column_radius()) {}

    __device__ int needed() const { return needed_; }

    __device__ std::int64_t first_needed() const { return tile_.first_row - call_.column_radius(); }

    /// To be called once, by all threads, before load().
    __device__ void prepare() {
        const std::int64_t start = tile_.first_column - Shape::halo;
        const std::int64_t first = first_held();
        direct_ = rows_within(first, images_.in_rows, needed_);
        from_ = static_cast<const Element*>(images_.in) +
                (tile_.frame * images_.in_rows + first) * images_.columns + start;
        choose_pieces(start);
        place_ = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from_) / sizeof(Element));
        from_ += warp() * images_.columns + lane() * piece;
        __syncthreads();
    }

    /// How many elements further on row `row` begins in the ring.
    __device__ int shift(int row) const {
        if constexpr (is_shifted) {
            const auto place =
                place_ + static_cast<unsigned>(row) * static_cast<unsigned>(images_.columns);
            return static_cast<int>(place % piece);
        } else {
            return 0;
        }
    }

    /// Starts the copy of batch k into a stage. Batches come in order.
    __device__ void load(int k, int stage) {
        Element* to = ring_ + (stage * Shape::rows + warp()) * Shape::in_pitch + lane() * piece;
        const Element* from = from_;
        from_ += Shape::rows * images_.columns;
        if (aligned && k * Shape::rows >= direct_.begin && (k + 1) * Shape::rows <= direct_.end) {
            load_plain(to, from);
        } else {
            load_any(k, to, from);
        }
        commit_copies();
    }

  private:
    static constexpr int warps = Shape::threads / 32;
    static constexpr int most_shift = is_shifted ? piece - 1 : 0;
    static constexpr int pieces = (Shape::in_width + most_shift + piece - 1) / piece;
    static_assert(pieces <= 32 * 32);

    static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
    static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }

    /// Where the input buffer would hold the first needed row under its own number.
    __device__ std::int64_t first_held() const { return first_needed() - images_.in_first; }

    /// Which pieces lie within the image in every row, and which other columns are needed.
    __device__ void choose_pieces(std::int64_t start) {
        const int radius = call_.row_radius();
        const std::int64_t end = images_.columns - start;
        const int inside = start < 0 ? static_cast<int>(-start) : 0;
        const int inside_end =
            static_cast<int>(end < 2 * Shape::in_width ? end : 2 * Shape::in_width);
        const int needed = Shape::halo - radius;
        const int strip_end = Shape::halo + Shape::width + radius;
        // Columns further outside than the radius are needed by no output.
        const int needed_end = inside_end + radius < strip_end ? inside_end + radius : strip_end;
        const int first_inside = start < most_shift ? (inside + most_shift + piece - 1) / piece : 0;
        first_piece_ = first_inside > needed / piece ? first_inside : needed / piece;
        const int last_inside = inside_end / piece;
        const int last_needed = (strip_end + most_shift + piece - 1) / piece;
        end_piece_ = last_inside < last_needed ? last_inside : last_needed;
        end_piece_ = end_piece_ < first_piece_ ? first_piece_ : end_piece_;
        const int covered = first_piece_ * piece;
        const int covered_end = end_piece_ * piece - (end_piece_ > first_piece_ ? most_shift : 0);
        const int left_end = covered < needed_end ? covered : needed_end;
        const int left = left_end > needed ? left_end - needed : 0;
        listed_ = left + (needed_end > covered_end ? needed_end - covered_end : 0);
        for (int i = static_cast<int>(threadIdx.x); i < listed_; i += Shape::threads) {
            const int at = i < left ? needed + i : i - left + covered_end;
            columns_[i] = {at, map_index(start + at, images_.columns, images_.boundary)};
        }
#pragma unroll
        for (int i = 0; i < pieces; i += 32) {
            const int own = i + lane();
            own_pieces_ |= own >= first_piece_ && own < end_piece_ ? 1U << (i / 32) : 0U;
        }
    }

    /// Rows that the input holds one below the other: nearly all. The pointers are at this lane's
    /// first piece of its warp's first row.
    __device__ void load_plain(Element* to, const Element* from) {
        const Element* source = from;
#pragma unroll
        for (int r = 0; r < Shape::rows; r += warps) {
            if (has_row(r)) {
                load_pieces(to + r * Shape::in_pitch, source);
            }
            source += warps * images_.columns;
        }
        if (listed_ > 0) {
            load_listed<Shape::rows>(to - lane() * piece, from - lane() * piece, 0);
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
            const bool direct = row >= direct_.begin && row < direct_.end;
            bool wanted = row < needed_; // others may be held nowhere
            const Element* source = from;
            if (wanted && !direct) {
                const std::int64_t held = held_row(images_, first_needed() + row);
                // Rows that taps of a padded kernel reach may not be held: these taps are 0.
                wanted = held >= 0 && held < images_.in_rows;
                source += (held - first_held() - row) * images_.columns;
            }
            if (wanted) {
                const int shifted = shift(row);
                if (direct || !is_shifted) {
                    load_pieces(to, source - shifted);
                } else {
                    load_elements(to - lane() * piece, source - lane() * piece - shifted);
                }
                if (listed_ > 0) {
                    load_listed<1>(to - lane() * piece + shifted, source - lane() * piece, shifted);
                }
            }
            to += warps * Shape::in_pitch;
            from += warps * images_.columns;
        }
    }

    __device__ void load_pieces(Element* to, const Element* from) {
#pragma unroll
        for (int i = 0; i < pieces; i += 32) {
            if (own_pieces_ >> (i / 32) & 1U) {
                copy_async<piece * sizeof(Element)>(to + i * piece, from + i * piece);
            }
        }
    }

    /// As load_pieces() from a row whose shift is another. Both pointers are at the first piece.
    __device__ void load_elements(Element* to, const Element* from) {
#pragma unroll 1
        for (int i = first_piece_ * piece + lane(); i < end_piece_ * piece; i += 32) {
            to[i] = from[i];
        }
    }

    static __device__ void copy_element(Element* to, const Element* from) {
        if constexpr (sizeof(Element) >= 4) {
            copy_async<sizeof(Element)>(to, from);
        } else {
            *to = *from; // there are no asynchronous copies of 1 and 2 bytes
        }
    }

    /// The columns that are no part of a piece in every row, of this warp's rows of a batch of
    /// `rows`. Both pointers are at the first column, in the first of these rows.
    template <int rows> __device__ void load_listed(Element* to, const Element* from, int shifted) {
        const int covered = first_piece_ * piece - shifted;
        const int covered_end = end_piece_ * piece - shifted;
#pragma unroll 1
        for (int i = lane(); i < listed_; i += 32) {
            const PushColumn column = columns_[i];
            if (is_shifted && column.at >= covered && column.at < covered_end) {
                continue; // in this row it is
            }
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
                    *at = static_cast<Element>(images_.fill);
                }
                source += warps * images_.columns;
            }
        }
    }

    const Arguments& call_;
    const ConvolveImages<T>& images_;
    const ConvolveTile& tile_;
    Element* ring_;
    PushColumn* columns_; ///< those that are no part of a piece in every row
    int needed_;
    NeededRows direct_ = {}; ///< rows that are held under their own numbers
    int listed_ = 0;         ///< columns
    int first_piece_ = 0;    ///< of those that are copied
    int end_piece_ = 0;
    unsigned own_pieces_ = 0; ///< bit i: piece 32 i + lane is copied
    unsigned place_ = 0;      ///< the first row's, in elements of memory
    const Element* from_ =
        nullptr; ///< this lane's first piece of its warp's first row of the next batch
};

} // namespace runner::convolve_cuda
