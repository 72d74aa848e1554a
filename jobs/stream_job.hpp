// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/rows.hpp"
#include "jobs/job.hpp"
#include "kernels/queue/queue.hpp"
#include "kernels/queue/row_block.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What lies beyond a frame's first and last row.
enum class RowBorder {
    inside,   ///< nothing, or rows near the border: a block's own rows say it all
    periodic, ///< the frame's other end (`wrap`): those rows must be brought to the block
};

/// The rows of the output that belong to rows of a frame of the input: one to each; or, where these
/// come in layers, so many to some of the layers.
struct OutputRows {
    std::int64_t layer =
        1; ///< rows of the frame that stay together: slabs and chunks begin on multiples
    std::int64_t each = 1; ///< rows of the output of a layer that has any
    std::int64_t step = 1; ///< these are the layers at its multiples …
    std::int64_t last = std::numeric_limits<std::int64_t>::max(); ///< … up to this one, and it

    /// The layers of the frame's rows before `row`, a multiple of `layer` or the frame's end. A
    /// last layer with fewer rows than the others counts as one.
    std::int64_t before(std::int64_t row) const {
        const std::int64_t layers = (row + layer - 1) / layer;
        const std::int64_t multiples = (std::min(layers - 1, last) + step) / step;
        return (multiples + (layers > last && last % step != 0 ? 1 : 0)) * each;
    }

    /// The most of any `rows` rows of one frame, a multiple of `layer`.
    std::int64_t most(std::int64_t rows) const {
        return ((rows / layer + step - 1) / step + (last % step != 0 ? 1 : 0)) * each;
    }
};

/// What the planner and the stream engine know of a job: rows of bytes in, rows of bytes out.
struct StreamShape {
    ArrayInfo output;        ///< type and extents of the dataset to write
    std::int64_t frames = 1; ///< independent frames of `rows` rows each
    std::int64_t rows = 0;   ///< of one frame of the input
    std::int64_t in_row_bytes = 0;
    std::int64_t out_row_bytes = 0;
    std::int64_t halo = 0; ///< rows of input an output row needs on either side
    RowBorder border = RowBorder::inside;
    OutputRows made = {};
    std::int64_t wanted_rows =
        0; ///< of a chunk, where the job knows what is fast; 0: the plan does
    /// Where it does, and so many take too long: fewer by multiples of `rows_between`, but no fewer
    /// than enough_rows, below which the halo's work would be too much beside the chunk's own.
    std::int64_t enough_rows = 0;
    std::int64_t rows_between = 1;
    /// Where the output is several datasets: these, and `output` is their joined_array()
    /// (io/writers/output_fields.hpp).
    std::vector<OutputField> fields = {};
};

/// Records how far the work of a job of several steps is.
class StepMarks {
  public:
    virtual ~StepMarks() = default;
    /// The work of the next step, from the first on, is on the queue; it reads and makes so many
    /// bytes.
    virtual void mark(std::int64_t bytes) = 0;
};

/// A block among those of one frame that a device computes one after the other.
struct BlockRun {
    std::optional<RowBlock> before = {};   ///< the one that ends where this one begins
    std::optional<std::int64_t> last = {}; ///< where the last one ends; nothing: this is the last
};

/// What run() works with, beside its rows: memory of its queue.
struct RunMemory {
    std::byte* scratch = nullptr; ///< scratch_bytes(), of this call alone
    std::byte* kept = nullptr;    ///< kept_bytes(), as prepare() has filled it
    /// The rows of the block's output, of all its frames, that the job's counts take: others are
    /// another chunk's too.
    std::int64_t counted_first = 0;
    std::int64_t counted_last = std::numeric_limits<std::int64_t>::max();
    StepMarks* marks = nullptr; ///< null: none are recorded
    BlockRun blocks = {};
    /// carried_bytes() as the call for `blocks.before` has left them, if there was one; null: this
    /// call takes nothing and leaves nothing.
    std::byte* carried = nullptr;

    /// Whether what the block before has left is there.
    bool takes_carried() const { return carried != nullptr && blocks.before; }
    /// Whether a block behind this one takes what this one leaves.
    bool leaves_carried(const RowBlock& block) const {
        return carried != nullptr && blocks.last.value_or(0) > block.out_first + block.out_rows;
    }
};

/// Device memory that a step of a pipeline works in; steps share places, so all of a pipeline's
/// take less than their sum.
struct StepMemory {
    std::int64_t lane_bytes = 0;    ///< of a lane: input, output and scratch of its largest call
    std::int64_t kept_bytes = 0;    ///< that all lanes share
    std::int64_t carried_rows = 0;  ///< of its input, that the step before makes for two chunks
    std::int64_t carried_bytes = 0; ///< of these rows, and of what its own calls leave
};

/// A job whose output chunk is a function of the same rows of the input and a halo.
/// Pure: same bytes in, same bytes out; no files, no MPI, and no memory between calls but what
/// prepare() has made, what is counted, and rows carried to the next block.
class StreamJob : public Job {
  public:
    virtual StreamShape shape() const = 0;

    ArrayInfo output() const override { return shape().output; }
    std::vector<OutputField> fields() const override { return shape().fields; }
    std::int64_t rows_together() const override { return shape().made.each; }

    /// Whether check_rows() may refuse rows of this input.
    virtual bool checks_rows() const { return false; }

    /// Checks rows of the input, counted through all frames (a periodic border's are extended),
    /// on the host before they are used.
    /// @throws Error (input) for values that the job does not take.
    virtual void check_rows(std::int64_t /*first*/, std::int64_t /*rows*/,
                            const std::byte* /*in*/) const {}

    /// Device memory that `run` needs beside input and output, for this block or a smaller one.
    virtual std::int64_t scratch_bytes(Backend backend, const RowBlock& block) const = 0;

    /// Host memory that each thread of a CPU queue takes for itself while `run` works on this block
    /// or a smaller one, where that may be more than some hundred KiB.
    virtual std::int64_t thread_bytes(const RowBlock& /*block*/) const { return 0; }

    /// Device memory, a multiple of 256 bytes, that all calls of `run` on a device share, those of
    /// several queues at once: images that every chunk needs, sums of what is counted.
    virtual std::int64_t kept_bytes(Backend /*backend*/) const { return 0; }

    /// Fills it before the first call of `run`; it may be used once `queue` is synchronized.
    virtual void prepare(Queue& /*queue*/, std::byte* /*kept*/) const {}

    /// Device memory by which a call of `run` leaves the next one what both need and only one
    /// computes, for this block or a smaller one. Calls one after the other have the same memory:
    /// each takes what the one before has left, then leaves its own.
    virtual std::int64_t carried_bytes(const RowBlock& /*block*/) const { return 0; }

    /// How many steps run() marks; 0 for a job that is none of several.
    virtual std::size_t steps() const { return 0; }

    /// What each of these takes for this block or a smaller one.
    virtual std::vector<StepMemory> step_memory(Backend /*backend*/,
                                                const RowBlock& /*block*/) const {
        return {};
    }

    /// The names of what run() counts. A value of a row is counted by the block that has the row
    /// among its counted ones.
    virtual std::vector<std::string> counted() const { return {}; }

    /// The counts, in the order of their names, of all calls since prepare(); these are done.
    virtual std::vector<std::int64_t> counts(Queue& /*queue*/, const std::byte* /*kept*/) const {
        return {};
    }

    /// A job that counts again what takes little to count twice (counts_soon()), and makes no more:
    /// this one, or the first steps of several. Null where there is nothing of the kind.
    virtual std::shared_ptr<const StreamJob> counting_part() const { return nullptr; }

    /// What run() counts on its queue for this block, about what float32 operations it takes; 0 for
    /// a job that is bound by its bytes and counts nothing.
    virtual double operations(const RowBlock& /*block*/) const { return 0; }

    /// The same where rows of the block before are carried.
    virtual double operations_in(const RowBlock& block, const BlockRun& /*blocks*/) const {
        return operations(block);
    }

    /// Computes the block's output rows from its input rows (see RowBlock) on `queue`.
    virtual void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                     const RunMemory& memory) const = 0;
};

} // namespace runner
