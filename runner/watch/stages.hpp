// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/profile/kernel_use.hpp"
#include "runner/plan/halving.hpp"
#include "runner/watch/busy_time.hpp"
#include "runner/watch/in_flight.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace runner {

/// What the bytes of a job pass through, in this order. Rows are exchanged between ranks in it
/// where their state evolves; a stream has traded its border rows before.
enum class Stage { read, upload, compute, exchange, download, hash, write };
inline constexpr std::array<std::string_view, 7> stage_names = {
    "read", "upload", "compute", "exchange", "download", "hash", "write"};
inline constexpr std::size_t stage_count = stage_names.size();

/// What one stage did on one rank.
struct StageTimes {
    double busy_seconds = 0; ///< time in which it worked on at least one chunk
    double wait_seconds = 0; ///< time in which it waited for the stage before, or for a free lane
    std::int64_t bytes = 0;

    static auto members(auto& self) {
        return std::tie(self.busy_seconds, self.wait_seconds, self.bytes);
    }
};

/// What one step of several did on one rank, halos of later steps included.
struct StepTimes {
    double seconds = 0;     ///< on the queue
    std::int64_t bytes = 0; ///< read and made

    static auto members(auto& self) { return std::tie(self.seconds, self.bytes); }
};

/// What the engine measured on one rank.
struct RunTimes {
    std::array<StageTimes, stage_count> stages;
    double setup_seconds = 0; ///< taking memory
    double wall_seconds = 0;  ///< first read to last write
    std::int64_t chunks = 0;
    std::int64_t device_bytes = 0; ///< taken on the device
    std::int64_t chunk_rows = 0;   ///< and lanes: the plan's, or less after halvings
    int lanes = 0;
    std::vector<Halving> halvings; ///< none where the plan's memory could be taken

    // For a stream: what its job counts (StreamJob::counted()), and border rows (BorderRows):
    std::vector<std::int64_t> counts;
    std::vector<StepTimes> steps; ///< of a stream of several steps (StreamJob::steps())
    std::int64_t border_bytes_sent = 0;
    std::int64_t border_rows_held = 0;

    std::vector<KernelUse> kernels; ///< on a GPU, where a report is wanted

    // For a job that evolves:
    std::int64_t generations = 0; ///< that this run computed
    std::string halo_way;         ///< how rows came from other ranks: docs/report.md
    std::string state_home;       ///< where the state was kept: likewise
    std::int64_t checkpoints = 0;
    double checkpoint_seconds = 0; ///< in which nothing else was done

    StageTimes& operator[](Stage stage) { return stages[static_cast<std::size_t>(stage)]; }
    const StageTimes& operator[](Stage stage) const {
        return stages[static_cast<std::size_t>(stage)];
    }

    static auto members(auto& self) {
        return std::tie(self.stages, self.setup_seconds, self.wall_seconds, self.chunks,
                        self.device_bytes, self.chunk_rows, self.lanes, self.halvings, self.counts,
                        self.steps, self.border_bytes_sent, self.border_rows_held, self.generations,
                        self.halo_way, self.state_home, self.checkpoints, self.checkpoint_seconds,
                        self.kernels);
    }
};

/// How far the engine is, for another thread to read.
struct RunProgress {
    std::atomic<std::int64_t> rows_done{0}; ///< or generations, where the state evolves
    std::atomic<std::int64_t> steps{0};     ///< goes up with everything any stage finishes
    std::atomic<bool> under_way{false};
    std::atomic<bool> surveying{false};         ///< the input, before it is under way
    std::atomic<std::int64_t> surveyed_rows{0}; ///< of this rank in the survey's current pass
    const char* unit = "chunk";                 ///< of `begun`; set before it is under way
    std::atomic<double> slowest_chunk{0};       ///< seconds from its first read to its last write
    std::array<BusyTime, stage_count> busy{};
    /// Chunks that each stage has begun; upload, compute and download are begun together.
    std::array<std::atomic<std::int64_t>, stage_count> begun{};
    InFlight in_flight; ///< of engines with chunks

    BusyTime& operator[](Stage stage) { return busy[static_cast<std::size_t>(stage)]; }

    /// rows_done and what is done of the chunks in flight, in rows. These are never whole: only
    /// what is written is done.
    double rows_in_work(InFlight::Clock::time_point now) const;
};

/// "read at chunk 7, compute at chunk 6, write at chunk 4": where an engine stands, or the
/// survey before it, for messages.
std::string standing_text(const RunProgress& progress);

} // namespace runner
