// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"
#include "runner/engines/channel.hpp"
#include "runner/plan/stream_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace runner::stream {

/// Where the output rows of one lane's chunk are computed, and how they come to the host: whole
/// where the queue computes there, else in portions of page-locked memory. A portion's memory is
/// filled again once it is written, so that downloading, hashing and writing overlap.
template <class Q> class ChunkOutput {
  public:
    using Event = typename Q::Event;

    /// A run of the chunk's output, in host memory from fetch() to written().
    struct Run {
        std::size_t index = 0; ///< of the chunk's runs
        RowRange in;           ///< rows of the input that it stands for, through all frames
        RowRange out;
        const std::byte* data = nullptr;
        bool last = false; ///< of the chunk
    };

    /// Takes all memory. @throws OutOfMemory
    ChunkOutput(const StreamPlan& plan, Q& queue);

    std::int64_t device_bytes() const { return device_.size(); }
    /// Where the chunk's output is computed.
    std::byte* data() {
        return Q::shares_host_memory ? portions_[0].memory.data() : device_.data();
    }

    /// The queue's work so far computes the output of a chunk, the rows `in` of the input; the
    /// first downloads follow it. Every run of the chunk before is written.
    void start(RowRange in, Q& queue);
    /// Waits for the chunk's next run, of which the last is not yet fetched; nothing once the
    /// output is cut.
    std::optional<Run> fetch();
    /// The run is written.
    void written(const Run& run, Q& queue);
    /// fetch() waits no longer. From any thread.
    void cut() { arriving_.cut(); }

    /// When the download of a run that was fetched began and ended.
    const Event& begun(const Run& run) { return portion_of(run.index).begun; }
    const Event& done(const Run& run) { return portion_of(run.index).done; }

  private:
    struct Portion {
        Buffer memory;
        Event begun;
        Event done;
    };

    Portion& portion_of(std::size_t index) { return portions_[index % portions_.size()]; }
    void download_run(std::size_t index, Q& queue);

    Decomposition cut_; ///< chunks of it are the portions
    std::int64_t row_bytes_;
    Buffer device_;
    std::deque<Portion> portions_;
    std::vector<Run> runs_;         ///< of the chunk
    Channel<std::size_t> arriving_; ///< runs whose download is queued
};

template <class Q>
ChunkOutput<Q>::ChunkOutput(const StreamPlan& plan, Q& queue)
    : cut_(plan.out_portions()), row_bytes_(plan.shape.out_row_bytes) {
    for (int i = 0; i < plan.out_portions_a_lane(); ++i) {
        Buffer memory = allocate_staging(queue, plan.most_out_portion());
        Event begun(queue);
        Event done(queue);
        portions_.push_back({std::move(memory), std::move(begun), std::move(done)});
    }
    if constexpr (!Q::shares_host_memory) {
        device_ = allocate_device(queue, plan.out_bytes());
    }
}

template <class Q> void ChunkOutput<Q>::start(RowRange in, Q& queue) {
    runs_.clear();
    ChunkCursor cursor(cut_, in);
    while (const std::optional<Chunk> chunk = cursor.next()) {
        const std::int64_t first = chunk->frame * cut_.rows + chunk->block.out_first;
        const RowRange rows{first, first + chunk->out_rows()};
        runs_.push_back({runs_.size(), rows, cut_.out_rows(rows)});
    }
    runs_.back().last = true;
    for (std::size_t index = 0; index < std::min(runs_.size(), portions_.size()); ++index) {
        download_run(index, queue);
    }
}

template <class Q> void ChunkOutput<Q>::download_run(std::size_t index, Q& queue) {
    Portion& portion = portion_of(index);
    Run& run = runs_[index];
    run.data = portion.memory.data();
    portion.begun.record(queue);
    if constexpr (!Q::shares_host_memory) {
        const std::int64_t offset = (run.out.first - runs_.front().out.first) * row_bytes_;
        download(queue, portion.memory.data(), device_.data() + offset,
                 run.out.count() * row_bytes_);
    }
    portion.done.record(queue);
    arriving_.push(index);
}

template <class Q> std::optional<typename ChunkOutput<Q>::Run> ChunkOutput<Q>::fetch() {
    const std::optional<std::size_t> index = arriving_.pop();
    if (!index) {
        return std::nullopt;
    }
    portion_of(*index).done.wait();
    return runs_[*index];
}

template <class Q> void ChunkOutput<Q>::written(const Run& run, Q& queue) {
    if (const std::size_t next = run.index + portions_.size(); next < runs_.size()) {
        download_run(next, queue);
    }
}

} // namespace runner::stream
