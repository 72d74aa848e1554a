// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "jobs/stream_job.hpp"
#include "runner/engines/stream/border_rows.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/output/commits.hpp"
#include "runner/plan/stream_plan.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/trace.hpp"

#include <functional>
#include <string>

namespace runner::stream {

/// All that a rank's stream works with; everything outlives the call.
struct Stream {
    const StreamPlan& plan;
    const StreamJob& job;
    int rank;
    RowReader& reader;
    BorderRows& border;
    RowWriter& writer;
    RunProgress& progress;
    Trace* trace; ///< null: none is wanted
    /// Records every chunk that the writer has; null: nothing records them.
    output::Commits* commits = nullptr;
    const Stop* stop = nullptr; ///< null: nothing stops it early
    /// Gets a line if chunks were halved, and one for each that is dropped; may be empty.
    std::function<void(const std::string& line)> say = {};
};

/// Streams the rank's slab: reading, copying to the device, computing, copying back and writing of
/// different chunks overlap, at most plan.lanes chunks at a time. All memory is taken first;
/// where it cannot be, chunks are halved until it can (take_fitting).
/// Returns when every row that is to do is handed to the writer, or as many as were in flight when
/// something asked to stop: progress.rows_done says. The first failure of any stage ends all of
/// them and is thrown, with the stage, the chunk and its rows in the message.
RunTimes run_stream(const Stream& stream, const QueueMaker& make_queue);

} // namespace runner::stream
