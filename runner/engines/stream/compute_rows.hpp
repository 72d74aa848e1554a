// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/rows/rows.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/engine.hpp"
#include "runner/plan/decomposition.hpp"

#include <cstdint>
#include <vector>

namespace runner::stream {

/// Computes any rows of a job's output from its input on this host's cores, apart from the engine
/// that made the output, in bounded memory.
class RowComputer {
  public:
    /// `alignment`: of the output's storage (row_alignment()). `piece_bytes`: input and output of a
    /// piece, without the halo; more where so many rows take more. Job and reader outlive it.
    RowComputer(const StreamJob& job, RowReader& input, std::int64_t alignment, int threads,
                std::int64_t piece_bytes = 64 * MiB);

    /// Computes the range piece by piece in order, whole layers where rows come in layers. Pieces
    /// begin and end on the alignment's borders within a frame, as far as the range does.
    /// @throws Error (input).
    void compute(RowRange range, const TakeRows& take);

    /// What the job counts for these rows of its input, which begin and end with layers.
    /// @throws Error (input).
    std::vector<std::int64_t> count(const RowSet& rows);

  private:
    void read(const Chunk& chunk);
    void run(const Chunk& chunk);

    const StreamJob& job_;
    RowReader& input_;
    StreamShape shape_;
    Decomposition decomposition_;
    Queue queue_;
    Buffer in_;
    Buffer out_;
    Buffer scratch_;
    Buffer kept_;
};

} // namespace runner::stream
