// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/stream_job.hpp"
#include "kernels/queue/row_block.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// Rows [first, last).
struct RowSpan {
    std::int64_t first = 0;
    std::int64_t last = 0;

    std::int64_t count() const { return last - first; }
};

/// One call of a step's run().
struct StepCall {
    RowBlock block;            ///< in the step's own frames and rows
    std::int64_t in_row = 0;   ///< where its input begins in the step's buffer, in rows
    std::int64_t out_row = 0;  ///< where its output begins in the next step's, or in the block's
    std::int64_t out_rows = 0; ///< that it makes, of all its frames
    RowSpan own = {};          ///< of these, those that no other block makes as its own
};

/// What a step computes for a block of the pipeline: one call, or one for each side of a frame's
/// end that a later step reads across.
struct StepWork {
    std::vector<StepCall> calls;
    std::int64_t held = 0;    ///< rows in the step's buffer
    std::int64_t carried = 0; ///< of these the first, which the block before has made
    std::int64_t first = 0;   ///< of these, as a row of the step's input; extended
    /// Whether its call begins where the step's call for the block before has ended.
    bool follows = false;
};

/// The most rows that a step's buffer holds and that one call is for, of any block up to a size.
struct StepSize {
    std::int64_t held = 0;
    RowBlock block; ///< as large as the largest of its calls
};

/// Whether rows of the block before are there.
enum class Carries { no, yes };

/// The rows of steps that follow one another, each taking what the one before makes. Maps rows of
/// the last step's output back to rows of the first one's input.
///
/// The pipeline's frames are the smallest that no step looks beyond: one may hold several frames of
/// a step (images, where a later step takes the volume). Such a step computes whole frames.
class StepChain {
  public:
    /// At least one step, each taking as many rows as the one before makes.
    /// @throws Error (defect) where is_chain() is false.
    explicit StepChain(std::span<const StreamShape> steps);

    /// Whether the chunks of these steps can begin and end at the same places.
    static bool is_chain(std::span<const StreamShape> steps);

    std::int64_t frames() const { return frames_; }
    std::int64_t rows() const { return steps_.front().rows; } ///< of the input, in a frame
    std::int64_t halo() const { return halo_; }               ///< of the input
    RowBorder border() const { return border_; }
    OutputRows made() const { return made_; }

    /// What each step computes for a block of the pipeline: no calls where it has no output, no
    /// later step takes it, or all of it is carried. The first `least` steps make all their own
    /// rows, whether or not a later step takes them.
    ///
    /// With a block before this one (`blocks`), rows that this one has made for its own last rows
    /// are carried, if `carries`, and are its own: each row is some block's own once.
    std::vector<StepWork> work(const RowBlock& block, std::size_t least = 0,
                               const BlockRun& blocks = {}, Carries carries = Carries::no) const;
    /// The most rows of a step's input, not of the first one's, that are carried; those that a
    /// block leaves are the last ones in the step's buffer.
    std::int64_t most_carried(std::size_t step) const;
    /// The sizes of this block or any smaller one.
    std::vector<StepSize> sizes(const RowBlock& block) const;

  private:
    /// A step within a frame of the pipeline.
    struct Step {
        std::int64_t frames = 1; ///< of its own, in one of the pipeline
        std::int64_t rows = 0;   ///< of its input, in a frame of the pipeline; likewise below
        std::int64_t out_rows = 0;
        std::int64_t halo = 0;
        RowBorder border = RowBorder::inside;
        OutputRows made = {};
        std::int64_t reach_out = 0; ///< rows that later steps need beyond a chunk's own
        std::int64_t reach_in = 0;  ///< and with its halo
    };

    /// What is computed for a block, with extended rows in place of those in buffers.
    struct Extended {
        std::vector<StepWork> works;
        std::vector<RowSpan> own; ///< of each step's input, and of the last one's output
    };

    Extended extended(const RowBlock& block, std::size_t least) const;
    bool is_inside(const Extended& block) const;
    bool carry(const Extended& before, std::vector<StepWork>& works) const;
    void own_rows(const Extended& block, const BlockRun& blocks, const Extended& before,
                  std::vector<StepWork>& works) const;
    RowSpan rows_around(const Step& step, RowSpan out) const;
    RowSpan window(const Step& step, RowSpan rows) const;
    void add_calls(std::size_t index, RowSpan out, std::vector<StepWork>& works,
                   RowSpan& held) const;
    std::vector<StepWork> whole_frames(std::int64_t frames) const;
    void place_calls(std::vector<StepWork>& works) const;
    StepSize size(std::size_t index, const RowBlock& block, std::int64_t own_rows) const;

    std::vector<Step> steps_;
    std::int64_t frames_ = 1;
    std::int64_t halo_ = 0;
    RowBorder border_ = RowBorder::inside;
    OutputRows made_ = {};
    bool whole_ = false; ///< some step needs a whole frame for any row
};

} // namespace runner
