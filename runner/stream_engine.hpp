// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/queue.hpp"
#include "runner/border_rows.hpp"
#include "runner/commits.hpp"
#include "runner/halving.hpp"
#include "runner/plan.hpp"
#include "runner/stop.hpp"
#include "runner/trace.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What a chunk passes through, in this order.
enum class Stage { read, upload, compute, download, hash, write };
inline constexpr std::array<std::string_view, 6> stage_names = {"read",     "upload", "compute",
                                                                "download", "hash",   "write"};
inline constexpr std::size_t stage_count = stage_names.size();

/// What one stage did on one rank.
struct StageTimes {
    double busy_seconds = 0; ///< time in which it worked on at least one chunk
    double wait_seconds = 0; ///< time in which it waited for the stage before, or for a free lane
    std::int64_t bytes = 0;
};

/// What the engine measured on one rank.
struct StreamTimes {
    std::array<StageTimes, stage_count> stages;
    double setup_seconds = 0; ///< taking memory
    double wall_seconds = 0;  ///< first read to last write
    std::int64_t chunks = 0;
    std::int64_t device_bytes = 0; ///< taken on the device
    std::int64_t chunk_rows = 0;   ///< and lanes: the plan's, or less after halvings
    int lanes = 0;
    std::vector<Halving> halvings; ///< none where the plan's memory could be taken

    StageTimes& operator[](Stage stage) { return stages[static_cast<std::size_t>(stage)]; }
    const StageTimes& operator[](Stage stage) const {
        return stages[static_cast<std::size_t>(stage)];
    }
};

/// How far the stream is, for another thread to look at.
struct StreamProgress {
    std::atomic<std::int64_t> rows_done{0};
    std::atomic<std::int64_t> steps{0}; ///< goes up with everything any stage finishes
    std::atomic<bool> under_way{false};
    std::atomic<double> slowest_chunk{0}; ///< seconds from its first read to its last write
    std::array<std::atomic<double>, stage_count> busy_seconds{};
    /// Chunks that each stage has begun; upload, compute and download are begun together.
    std::array<std::atomic<std::int64_t>, stage_count> begun{};
};

/// "read at chunk 7, compute at chunk 6, write at chunk 4": where a stream stands, for messages.
std::string standing_text(const StreamProgress& progress);

/// All that a rank's stream works with; everything outlives the call.
struct Stream {
    const Plan& plan;
    const StreamJob& job;
    int rank;
    RowReader& reader;
    BorderRows& border;
    RowWriter& writer;
    StreamProgress& progress;
    Trace* trace;               ///< null: none is wanted
    Commits* commits = nullptr; ///< is told of every chunk that the writer has; null: nobody is
    const Stop* stop = nullptr; ///< null: nothing stops it early
    /// Told a line before the first row is read, if chunks were halved; may be empty.
    std::function<void(const std::string& line)> say = {};
};

/// Makes one lane's queue.
using QueueMaker = std::function<Queue()>;

/// Streams the rank's slab: reading, copying to the device, computing, copying back and writing of
/// different chunks overlap, at most plan.lanes chunks at a time. All memory is taken first;
/// where it cannot be, chunks are halved until it can (take_fitting).
/// Returns when every row that is to do is handed to the writer, or as many as were in flight when
/// something asked to stop: progress.rows_done says. The first failure of any stage ends all of
/// them and is thrown, with the stage, the chunk and its rows in the message.
StreamTimes run_stream(const Stream& stream, const QueueMaker& make_queue);

} // namespace runner
