// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "jobs/permute_job.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/output/commits.hpp"
#include "runner/plan/permute_plan.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/trace.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace runner::permute {

/// All that a rank's boxes work with; everything outlives the call.
struct Permutation {
    const PermutePlan& plan;
    const PermuteJob& job;
    int rank;
    RowReader& reader;
    RowWriter& writer;
    RunProgress& progress;
    Trace* trace;             ///< null: none is wanted
    output::Commits* commits; ///< null: nothing keeps what is done
    const Stop* stop;         ///< null: nothing stops it early
    /// Gets a line if boxes were halved, and one for each that is dropped; may be empty.
    std::function<void(const std::string& line)> say = {};
};

/// Passes the rank's boxes through its device: reading, copying, permuting, copying back, hashing
/// and writing of different boxes overlap, at most plan.lanes boxes at a time. Where memory cannot
/// be taken, boxes pass in pieces. Returns and fails as run_stream().
RunTimes run_permutation(const Permutation& permutation, const QueueMaker& make_queue);

/// The runs of rows and columns of the input that a box is made from, in its order: of a volume one
/// value, and nothing for an empty box.
std::vector<RowRuns> input_runs(const BoxGrid& grid, const PermuteBox& box);

/// Reads them to `to`, dense.
void read_box(RowReader& input, const BoxGrid& grid, const PermuteBox& box, std::byte* to);

} // namespace runner::permute
