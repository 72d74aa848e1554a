// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/convolve/convolve_device.cuh"
#include "kernels/convolve/matrix/copy_bulk.cuh"
#include "kernels/convolve/push/convolve_push_shape.cuh"
#include "kernels/queue/block_memory.cuh"

#include <cstdint>

namespace runner::convolve_cuda {

/// Brings the rows of a tile, with their halo, into a ring of batches in shared memory, by bulk
/// copies: every row of the input starts at a multiple of 16 bytes. Warps take batches in order and
/// leave them again, each at its own pace: a batch is copied where all have left an earlier one.
/// `Shape`: rows of a batch, stages of the ring, ahead, in_pitch, in_width, width, halo, in_vector,
/// threads, radius.
template <class Shape> class BulkRows {
  public:
    using Element = typename Shape::Stored;

    /// What loads need and threads do not hold in registers.
    struct Plan {
        const Element* from;  ///< the first needed row, at the first column that is copied
        const Element* frame; ///< row 0 of the frame's input rows
        int needed;           ///< rows
        int batches;          ///< of the tile
        int wanted;           ///< the batches before this one
        int direct_from;      ///< batches from this one on, before direct_to, are held as they are
        int direct_to;
        unsigned bytes; ///< of a row
        int first;      ///< column of the ring that is copied first
        int outside;    ///< columns beyond the image's border that are copied
    };
    static constexpr int shared_bytes =
        static_cast<int>(Shape::in_width * sizeof(PushColumn) + sizeof(Plan) + 16 * Shape::stages);

    /// `shared`: shared_bytes, aligned to 16.
    __device__ BulkRows(const ConvolveImages<typename Shape::Value>& images, Element* ring,
                        unsigned char* shared)
        : images_(images), ring_(ring), columns_(reinterpret_cast<PushColumn*>(shared)),
          plan_(reinterpret_cast<Plan*>(columns_ + Shape::in_width)),
          barriers_(shared_address(plan_ + 1)) {}

    /// For all threads. Of the ring only columns beyond the border are written that are the fill
    /// value; the rest stays as it is until copies arrive. `batches`: that the warps take; the last
    /// ones may have no rows.
    __device__ void prepare(const ConvolveTile& tile, int batches) {
        first_needed_ = tile.first_row - Shape::radius;
        const std::int64_t start = tile.first_column - Shape::halo;
        const std::int64_t end = images_.columns - start;
        const int inside = start < 0 ? static_cast<int>(-start) : 0;
        const int inside_end = static_cast<int>(end < Shape::in_width ? end : Shape::in_width);
        const int needed_end = inside_end + Shape::radius < Shape::in_width
                                   ? inside_end + Shape::radius
                                   : Shape::in_width;
        const int outside = inside + needed_end - inside_end;
        const auto column_of = [&](int i) { return i < inside ? i : i - inside + inside_end; };
        if (images_.boundary == Boundary::constant) {
            for (int i = static_cast<int>(threadIdx.x); i < outside * Shape::rows * Shape::stages;
                 i += Shape::threads) {
                ring_[i / outside * Shape::in_pitch + column_of(i % outside)] = images_.fill;
            }
        }
        for (int i = static_cast<int>(threadIdx.x); i < outside; i += Shape::threads) {
            const int at = column_of(i);
            columns_[i] = {at, map_index(start + at, images_.columns, images_.boundary)};
        }
        if (threadIdx.x == 0) {
            make_plan(tile, batches, start + inside, inside_end - inside);
            plan_->first = inside;
            plan_->outside = images_.boundary == Boundary::constant ? 0 : outside;
            for (int s = 0; s < Shape::stages; ++s) {
                make_bulk_barrier(arrived(s), plan_->outside > 0 ? 1 + 32 : 1);
                make_bulk_barrier(left(s), Shape::threads / 32);
            }
        }
        order_before_bulk_copies();
        __syncthreads();
        for (int k = 0; k < Shape::ahead; ++k) {
            load(k, k, 1);
        }
    }

    /// The batches before this one are wanted; the same in all lanes of a warp. Other warps may
    /// just make it less.
    __device__ int wanted() const {
        return __shfl_sync(0xffffffffU, *const_cast<const volatile int*>(&plan_->wanted), 0);
    }
    /// Batches from k on are not wanted any more. From a warp that has not left batch k.
    __device__ void give_up(int k) { atomicMin(&plan_->wanted, k); }
    /// Whether warps have to take batch k. Where some are not wanted, that are still those whose
    /// copies may have been started.
    __device__ bool is_taken(int k, int wanted) const {
        return k < plan_->batches && k < wanted + Shape::stages;
    }

    /// Waits for batch k, the next one, and starts the copy of one further on; for whole warps.
    /// Returns the first row in the ring.
    __device__ auto take(int k) -> const Element* {
        const int ahead = stage_ + Shape::ahead;
        if (ahead < Shape::stages) {
            load(k + Shape::ahead, ahead, phase_ ^ 1U);
        } else {
            load(k + Shape::ahead, ahead - Shape::stages, phase_);
        }
        wait_for_bytes(arrived(stage_), phase_);
        __syncwarp();
        return ring_ + stage_ * Shape::rows * Shape::in_pitch;
    }

    /// The warp does not read the batch any more that it took last.
    __device__ void leave() {
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            arrive(left(stage_));
        }
        ++stage_;
        if (stage_ == Shape::stages) {
            stage_ = 0;
            phase_ ^= 1U;
        }
    }

    /// Frees the barriers' memory, when all warps have left all batches.
    __device__ void end() {
        if (threadIdx.x == 0) {
            for (int s = 0; s < Shape::stages; ++s) {
                drop_bulk_barrier(arrived(s));
                drop_bulk_barrier(left(s));
            }
        }
    }

    __device__ std::int64_t first_needed() const { return first_needed_; }

  private:
    static constexpr unsigned pitch_bytes = Shape::in_pitch * sizeof(Element);

    /// The barrier of a stage's copies, and that of the warps that have left it.
    __device__ std::uint32_t arrived(int stage) const { return barriers_ + 16 * stage; }
    __device__ std::uint32_t left(int stage) const { return barriers_ + 16 * stage + 8; }

    /// For one thread. `column`: of the image, the first that is copied.
    __device__ void make_plan(const ConvolveTile& tile, int batches, std::int64_t column,
                              int columns) {
        const int needed = static_cast<int>(tile.rows) + 2 * Shape::radius;
        const std::int64_t first = first_needed_ - images_.in_first;
        const NeededRows direct = rows_within(first, images_.in_rows, needed);
        plan_->frame = static_cast<const Element*>(images_.in) +
                       tile.frame * images_.in_rows * images_.columns;
        plan_->from = plan_->frame + first * images_.columns + column;
        plan_->needed = needed;
        plan_->batches = batches;
        plan_->wanted = batches;
        plan_->direct_from = (direct.begin + Shape::rows - 1) / Shape::rows;
        plan_->direct_to = direct.end / Shape::rows;
        plan_->bytes = static_cast<unsigned>(columns) * static_cast<unsigned>(sizeof(Element));
    }

    /// Starts the copy of batch k into a stage; the warps take turns. `phase`: of the stage, the
    /// one in which all warps leave the batch that it had.
    __device__ void load(int k, int stage, unsigned phase) {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        if (warp != k % (Shape::threads / 32) || k >= plan_->batches) {
            return;
        }
        wait_for_bytes(left(stage), phase);
        __syncwarp();
        const std::uint32_t barrier = arrived(stage);
        if (!is_taken(k, wanted())) {
            // A warp may be about to take it, which does not know yet. It is not to wait for ever.
            if (plan_->outside > 0) {
                arrive(barrier);
            }
            if (is_elected()) {
                arrive(barrier);
            }
            return;
        }
        const bool direct = k >= plan_->direct_from && k < plan_->direct_to;
        if (is_elected()) {
            const std::uint32_t to =
                shared_address(ring_ + stage * Shape::rows * Shape::in_pitch + plan_->first);
            if (direct) {
                load_direct(k, to, barrier);
            } else {
                load_mapped(k, to, barrier);
            }
            arrive(barrier);
        }
        if (plan_->outside > 0) {
            load_outside(k, stage, direct);
            arrive_after_copies(barrier);
        }
    }

    __device__ void load_direct(int k, std::uint32_t to, std::uint32_t barrier) {
        const unsigned bytes = plan_->bytes;
        const Element* from =
            plan_->from + static_cast<std::int64_t>(k) * Shape::rows * images_.columns;
        expect_bytes(barrier, bytes * Shape::rows);
#pragma unroll
        for (int r = 0; r < Shape::rows; ++r) {
            copy_bulk(to, from, bytes, barrier);
            to += pitch_bytes;
            from += images_.columns;
        }
    }

    /// A batch with rows beyond the border, or beyond those that are needed or held.
    __device__ void load_mapped(int k, std::uint32_t to, std::uint32_t barrier) {
#pragma unroll 1
        for (int r = 0; r < Shape::rows; ++r) {
            const std::int64_t held = held_of(k * Shape::rows + r);
            if (held >= 0) {
                expect_bytes(barrier, plan_->bytes);
                const std::int64_t past = held - (first_needed_ - images_.in_first);
                copy_bulk(to + static_cast<unsigned>(r) * pitch_bytes,
                          plan_->from + past * images_.columns, plan_->bytes, barrier);
            }
        }
    }

    /// The input row that stands for needed row `row`, −1 if none is held. Rows that taps of a
    /// padded kernel reach may not be held: these taps are 0.
    __device__ std::int64_t held_of(int row) const {
        if (row >= plan_->needed) {
            return -1;
        }
        const std::int64_t held = held_row(images_, first_needed_ + row);
        return held < images_.in_rows ? held : -1;
    }

    /// The columns beyond the image's border, a lane a column.
    __device__ void load_outside(int k, int stage, bool direct) {
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x) % 32; i < plan_->outside; i += 32) {
            Element* to = ring_ + stage * Shape::rows * Shape::in_pitch + columns_[i].at;
            const Element* from = plan_->frame + columns_[i].held;
            if (direct) {
                const std::int64_t first = first_needed_ - images_.in_first;
                from += (first + static_cast<std::int64_t>(k) * Shape::rows) * images_.columns;
#pragma unroll
                for (int r = 0; r < Shape::rows; ++r) {
                    copy_async<sizeof(Element)>(to + r * Shape::in_pitch, from);
                    from += images_.columns;
                }
                continue;
            }
#pragma unroll 1
            for (int r = 0; r < Shape::rows; ++r) {
                const std::int64_t held = held_of(k * Shape::rows + r);
                if (held >= 0) {
                    copy_async<sizeof(Element)>(to + r * Shape::in_pitch,
                                                from + held * images_.columns);
                }
            }
        }
    }

    const ConvolveImages<typename Shape::Value>& images_;
    Element* ring_;
    PushColumn* columns_;
    Plan* plan_;
    std::uint32_t barriers_;
    std::int64_t first_needed_ = 0;
    int stage_ = 0;      ///< of the batch that is taken
    unsigned phase_ = 0; ///< the parity of how often the ring has been filled before
};

} // namespace runner::convolve_cuda
