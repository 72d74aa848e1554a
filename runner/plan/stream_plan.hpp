// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/stream_job.hpp"
#include "runner/plan/decomposition.hpp"
#include "runner/plan/job_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The plan of a job whose output rows are made from the same rows of the input.
struct StreamPlan : JobPlan {
    StreamShape shape;
    Decomposition decomposition;
    int cores = 1;                  ///< of one rank
    std::int64_t stored_rows = 1;   ///< of the output, that can only be written together
    std::int64_t write_rows = 1;    ///< of the output, that reach all files written at once
    std::int64_t scratch_bytes = 0; ///< of one lane
    /// Whether a chunk leaves the next one what both need; not where this would take the memory
    /// that the smallest chunk needs.
    bool carries = true;
    std::int64_t carried_bytes = 0; ///< that all lanes share
    int channels = 1;               ///< samples of a colour pixel: then a row is a pixel
    std::vector<std::int64_t> input_shape = {}; ///< as PlanRequest's
    int input_channels = 1;
    /// About what computing a chunk takes, on a usual core or a large GPU; 0 where the job counts
    /// no operations.
    double chunk_seconds = 0;

    /// Input buffers: one a lane, and two at least, since a chunk takes the halo rows it shares
    /// with the chunk before from that one's buffer.
    int input_slots() const { return lanes < 2 ? 2 : lanes; }
    /// Memory that a device copies from and to, where it is not the host's: page-locked, and apart
    /// from chunks, since 1 GiB takes 0.5 s to lock. Rows come in through as many portions as there
    /// are input slots. Each lane's go out through two, or one where a chunk is no larger.
    std::int64_t most_in_portion() const; ///< bytes
    /// The rows of a chunk in the portions in which they leave; one portion, where the host
    /// computes.
    Decomposition out_portions() const;
    std::int64_t most_out_portion() const; ///< bytes
    int out_portions_a_lane() const { return most_out_portion() < out_bytes() ? 2 : 1; }

    /// Read and written for a row of the input, on average.
    double bytes_a_row() const;
    std::int64_t in_bytes() const { return decomposition.most_in_rows() * shape.in_row_bytes; }
    std::int64_t out_bytes() const { return decomposition.most_out_rows() * shape.out_row_bytes; }

    int rank_count() const override { return decomposition.ranks; }
    RowRange rows_of_rank(int rank) const override { return decomposition.slab(rank); }
    std::int64_t pieces_of_rank(int rank) const override;
    std::int64_t chunk_rows() const override { return decomposition.chunk_rows; }
    const ArrayInfo& output() const override { return shape.output; }
    std::int64_t bytes_to_read() const override;
    std::int64_t bytes_to_write() const override;
    std::string text() const override;
    std::vector<PlanFact> facts() const override;
};

/// Makes the plan; pure. Chunk rows and lanes that the request leaves open are chosen to fit.
/// @throws Error (usage) when nothing fits, with the smallest change that would.
StreamPlan make_plan(const StreamJob& job, const PlanRequest& request);

/// `plan` with other chunk rows (a multiple of the alignment) and lanes, whether it fits or not.
/// All else stays, the memory of border and storage too.
StreamPlan with_chunks(const StreamJob& job, const StreamPlan& plan, std::int64_t chunk_rows,
                       std::int64_t lanes);

/// The next smaller plan: half the chunk rows, rounded down to the output's alignment; at one
/// alignment step a lane less; nothing below that. Slabs and border rows stay as they are, so one
/// rank may do it alone.
std::optional<StreamPlan> halved(const StreamJob& job, const StreamPlan& plan);

} // namespace runner
