// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/convolve_push_shape.cuh"
#include "kernels/convolve/matrix/copy_bulk.cuh"
#include "kernels/queue/copy_async.cuh"

#include <cstdint>

namespace runner::convolve_cuda {

/// Brings the rows of a tile, with their halo, into a ring of batches in shared memory, by bulk
/// copies: every row of the input starts at a multiple of 16 bytes. `Shape`: rows of a batch,
/// stages of the ring, in_pitch, in_width, width, halo, in_vector, threads, radius.
template <class Shape> class BulkRows {
  public:
    using Element = typename Shape::Stored;

    /// What loads need and threads do not hold in registers.
    struct Plan {
        const Element* from;  ///< the first needed row, at the first column that is copied
        const Element* frame; ///< row 0 of the frame's input rows
        int needed;           ///< rows
        int direct_from;      ///< batches from this one on, before direct_to, are held as they are
        int direct_to;
        unsigned bytes; ///< of a row
        int first;      ///< column of the ring that is copied first
        int outside;    ///< columns beyond the image's border
    };
    static constexpr int shared_bytes =
        static_cast<int>(Shape::in_width * sizeof(PushColumn) + sizeof(Plan) + 8 * Shape::stages);

    /// `shared`: shared_bytes, aligned to 16.
    __device__ BulkRows(const ConvolveView<typename Shape::Value>& view, Element* ring,
                        unsigned char* shared)
        : view_(view), ring_(ring), columns_(reinterpret_cast<PushColumn*>(shared)),
          plan_(reinterpret_cast<Plan*>(columns_ + Shape::in_width)),
          barriers_(shared_address(plan_ + 1)) {}

    /// For all threads; ends with a barrier. What is in the ring is left as it is.
    __device__ void prepare(const ConvolveTile& tile) {
        first_needed_ = tile.first_row - Shape::radius;
        const std::int64_t start = tile.first_column - Shape::halo;
        const std::int64_t end = view_.columns - start;
        const int inside = start < 0 ? static_cast<int>(-start) : 0;
        const int inside_end = static_cast<int>(end < Shape::in_width ? end : Shape::in_width);
        const int needed_end = inside_end + Shape::radius < Shape::in_width
                                   ? inside_end + Shape::radius
                                   : Shape::in_width;
        const int left = inside;
        const int outside = left + needed_end - inside_end;
        for (int i = static_cast<int>(threadIdx.x); i < outside; i += Shape::threads) {
            const int at = i < left ? i : i - left + inside_end;
            columns_[i] = {at, map_index(start + at, view_.columns, view_.boundary)};
        }
        if (threadIdx.x == 0) {
            const int needed = static_cast<int>(tile.rows) + 2 * Shape::radius;
            const std::int64_t first = first_needed_ - view_.in_first;
            const std::int64_t held = view_.in_rows - first; // rows from the first needed one on
            const auto direct = static_cast<int>(first >= 0        ? 0
                                                 : first < -needed ? needed
                                                                   : -first);
            const auto direct_end = static_cast<int>(held < 0 ? 0 : held < needed ? held : needed);
            const Element* frame =
                static_cast<const Element*>(view_.in) + tile.frame * view_.in_rows * view_.columns;
            *plan_ = {frame + first * view_.columns + start + inside,
                      frame,
                      needed,
                      (direct + Shape::rows - 1) / Shape::rows,
                      direct_end / Shape::rows,
                      static_cast<unsigned>(inside_end - inside) *
                          static_cast<unsigned>(sizeof(Element)),
                      inside,
                      outside};
            for (int s = 0; s < Shape::stages; ++s) {
                make_bulk_barrier(barriers_ + 8 * s);
            }
        }
        order_before_bulk_copies();
        __syncthreads();
    }

    /// Starts the copy of batch k into a stage; the warps take turns.
    __device__ void load(int k, int stage) {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        if (warp == k % (Shape::threads / 32) && is_elected()) {
            const std::uint32_t barrier = barriers_ + 8 * stage;
            const std::uint32_t to =
                shared_address(ring_ + stage * Shape::rows * Shape::in_pitch + plan_->first);
            if (k >= plan_->direct_from && k < plan_->direct_to) {
                load_direct(k, to, barrier);
            } else {
                load_mapped(k, to, barrier);
            }
            arrive(barrier);
        }
        if (plan_->outside > 0) {
            load_outside(k, stage);
        }
        commit_copies();
    }

    /// Waits for the batch in a stage. A barrier of threads has to follow. `phases`: of this
    /// thread, 0 at first.
    __device__ void wait(int stage, unsigned& phases) const {
        wait_for_copies<Shape::stages - 2>();
        wait_for_bytes(barriers_ + 8 * stage, phases >> stage & 1U);
        phases ^= 1U << stage;
    }

    /// Frees the barriers' memory. No copy may be under way.
    __device__ void end() {
        if (threadIdx.x == 0) {
            for (int s = 0; s < Shape::stages; ++s) {
                drop_bulk_barrier(barriers_ + 8 * s);
            }
        }
    }

    __device__ std::int64_t first_needed() const { return first_needed_; }

  private:
    static constexpr unsigned pitch_bytes = Shape::in_pitch * sizeof(Element);

    __device__ void load_direct(int k, std::uint32_t to, std::uint32_t barrier) {
        const unsigned bytes = plan_->bytes;
        const Element* from =
            plan_->from + static_cast<std::int64_t>(k) * Shape::rows * view_.columns;
        expect_bytes(barrier, bytes * Shape::rows);
#pragma unroll
        for (int r = 0; r < Shape::rows; ++r) {
            copy_bulk(to, from, bytes, barrier);
            to += pitch_bytes;
            from += view_.columns;
        }
    }

    /// A batch with rows beyond the border, or beyond those that are needed or held.
    __device__ void load_mapped(int k, std::uint32_t to, std::uint32_t barrier) {
#pragma unroll 1
        for (int r = 0; r < Shape::rows; ++r) {
            const std::int64_t held = held_of(k * Shape::rows + r);
            if (held >= 0) {
                expect_bytes(barrier, plan_->bytes);
                const std::int64_t past = held - (first_needed_ - view_.in_first);
                copy_bulk(to + static_cast<unsigned>(r) * pitch_bytes,
                          plan_->from + past * view_.columns, plan_->bytes, barrier);
            }
        }
    }

    /// The input row that stands for needed row `row`, −1 if none is held. Rows that taps of a
    /// padded kernel reach may not be held: these taps are 0.
    __device__ std::int64_t held_of(int row) const {
        if (row >= plan_->needed) {
            return -1;
        }
        const std::int64_t held = held_row(view_, first_needed_ + row);
        return held < view_.in_rows ? held : -1;
    }

    /// The columns beyond the image's border, by all threads: a warp a row.
    __device__ void load_outside(int k, int stage) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
        for (int r = static_cast<int>(threadIdx.x) / 32; r < Shape::rows;
             r += Shape::threads / 32) {
            const std::int64_t held = held_of(k * Shape::rows + r);
            if (held < 0) {
                continue;
            }
            Element* to = ring_ + (stage * Shape::rows + r) * Shape::in_pitch;
            const Element* from = plan_->frame + held * view_.columns;
#pragma unroll 1
            for (int i = lane; i < plan_->outside; i += 32) {
                const PushColumn column = columns_[i];
                if (column.held >= 0) {
                    copy_async<sizeof(Element)>(to + column.at, from + column.held);
                } else {
                    to[column.at] = static_cast<Element>(view_.fill);
                }
            }
        }
    }

    const ConvolveView<typename Shape::Value>& view_;
    Element* ring_;
    PushColumn* columns_;
    Plan* plan_;
    std::uint32_t barriers_;
    std::int64_t first_needed_ = 0;
};

} // namespace runner::convolve_cuda
