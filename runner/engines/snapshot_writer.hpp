// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "jobs/evolve_job.hpp"
#include "kernels/queue/profile_range.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/channel.hpp"
#include "runner/engines/stream_engine.hpp"
#include "runner/plan/evolve_plan.hpp"
#include "runner/recovery/commits.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/trace.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

namespace runner {

/// What snapshots are taken of and where they go; everything outlives the writer.
struct SnapshotTarget {
    const EvolvePlan& plan;
    const EvolveJob& job;
    RowRange slab;
    RowWriter& writer;
    Commits& commits;
    RunTimes& times;
    RunProgress& progress;
    Trace* trace; ///< null: none is wanted
    std::chrono::steady_clock::time_point begin;
};

/// Unpacks, copies and writes the rank's rows of a state while the next generations are computed:
/// two threads, over the plan's lanes. The state is copied on its device first, so that it may
/// change at once.
template <class Q> class SnapshotWriter {
  public:
    /// The memory of a chunk in flight, and its queue.
    struct Lane {
        Queue queue;
        Buffer staging; ///< plan.chunk_bytes(), of the host
        Buffer device;  ///< as many; empty where the queue computes in the staging buffer
        typename Q::Event done;

        Q& own() { return std::get<Q>(queue); }
        std::byte* data() const { return Q::shares_host_memory ? staging.data() : device.data(); }
    };

    /// Takes all memory. @throws OutOfMemory
    SnapshotWriter(const SnapshotTarget& target, const QueueMaker& make_queue);
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;
    /// Ends the threads; what they have not written is lost.
    ~SnapshotWriter();

    /// Takes the slab's rows of `state`, as `queue` leaves them, for the index-th snapshot. The
    /// queue's later work may change them. Waits until the snapshot before is unpacked.
    /// @throws what the threads failed with.
    void take(Q& queue, const std::byte* state, std::int64_t index);

    /// Waits until the output's writer has all that was taken. @throws what the threads failed
    /// with.
    void drain();

    /// The lanes, for other use while nothing is under way: before the first take(), after drain().
    std::deque<Lane>& idle_lanes() { return lanes_; }

    std::int64_t device_bytes() const { return device_bytes_; }

  private:
    /// Rows of the slab on their way.
    struct Piece {
        std::int64_t snapshot = 0;
        RowRange rows;
        std::size_t lane = 0;
        double begin = 0; ///< seconds since the run began
    };

    void unpack_stage();
    void write_stage();
    template <class Body> std::thread stage_thread(Body body);
    void fail(std::exception_ptr error);
    void rethrow_failure() const; ///< with mutex_ held
    std::exception_ptr with_place(const Error& error, const Piece& piece) const;
    void write(const Piece& piece);
    void spend(Stage stage, const Piece& piece, double begin, double end);
    double now() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - target_.begin)
            .count();
    }
    std::int64_t bytes_of(const RowRange& rows) const {
        return rows.count() * target_.plan.shape.out_row_bytes;
    }

    SnapshotTarget target_;
    std::deque<Lane> lanes_;
    Buffer copy_; ///< of the slab's rows of the state
    std::optional<typename Q::Event> copied_;
    std::int64_t device_bytes_ = 0;
    Channel<std::size_t> free_lanes_;
    Channel<std::int64_t> snapshots_;
    Channel<Piece> pieces_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::array<double, stage_count> stage_ends_{};
    bool unpacking_ = false;
    std::int64_t rows_taken_ = 0;
    std::int64_t rows_written_ = 0;
    std::exception_ptr failure_;
    std::thread unpacking_thread_;
    std::thread writing_thread_;
};

template <class Q>
SnapshotWriter<Q>::SnapshotWriter(const SnapshotTarget& target, const QueueMaker& make_queue)
    : target_(target) {
    const EvolvePlan& plan = target_.plan;
    for (int i = 0; i < plan.lanes; ++i) {
        Queue queue = make_queue();
        Q& own = std::get<Q>(queue);
        Buffer staging = allocate_staging(own, plan.chunk_bytes());
        Buffer device;
        if constexpr (!Q::shares_host_memory) {
            device = allocate_device(own, plan.chunk_bytes());
        }
        device_bytes_ += device.size();
        typename Q::Event done(own);
        lanes_.push_back(
            {std::move(queue), std::move(staging), std::move(device), std::move(done)});
        free_lanes_.push(static_cast<std::size_t>(i));
    }
    Q& first = lanes_.front().own();
    copy_ = allocate_device(first, target_.slab.count() * plan.shape.state_row_bytes);
    device_bytes_ += copy_.size();
    copied_.emplace(first);
    unpacking_thread_ = stage_thread(&SnapshotWriter::unpack_stage);
    writing_thread_ = stage_thread(&SnapshotWriter::write_stage);
}

template <class Q> SnapshotWriter<Q>::~SnapshotWriter() {
    free_lanes_.cut();
    snapshots_.cut();
    pieces_.cut();
    unpacking_thread_.join();
    writing_thread_.join();
}

template <class Q> template <class Body> std::thread SnapshotWriter<Q>::stage_thread(Body body) {
    return std::thread([this, body] {
        try {
            (this->*body)();
        } catch (const std::bad_alloc&) {
            fail(std::make_exception_ptr(out_of_host_memory()));
        } catch (...) {
            fail(std::current_exception());
        }
    });
}

template <class Q> void SnapshotWriter<Q>::fail(std::exception_ptr error) {
    {
        const std::lock_guard lock(mutex_);
        if (!failure_) {
            failure_ = std::move(error);
        }
    }
    free_lanes_.cut();
    snapshots_.cut();
    pieces_.cut();
    changed_.notify_all();
}

template <class Q> void SnapshotWriter<Q>::rethrow_failure() const {
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

template <class Q>
std::exception_ptr SnapshotWriter<Q>::with_place(const Error& error, const Piece& piece) const {
    ErrorText text = error.text();
    text.where += std::string(text.where.empty() ? "" : "; ") + "snapshot of generation " +
                  std::to_string(target_.plan.shape.snapshots.generation(piece.snapshot)) +
                  ", rows " + std::to_string(piece.rows.first) + " to " +
                  std::to_string(piece.rows.last - 1);
    return std::make_exception_ptr(Error(error.code(), std::move(text)));
}

template <class Q>
void SnapshotWriter<Q>::take(Q& queue, const std::byte* state, std::int64_t index) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !unpacking_ || failure_ != nullptr; });
        rethrow_failure();
        if (target_.slab.empty()) {
            return;
        }
        unpacking_ = true;
        rows_taken_ += target_.slab.count();
    }
    copy_on_device(queue, copy_.data(), state, copy_.size());
    copied_->record(queue);
    snapshots_.push(index);
}

template <class Q> void SnapshotWriter<Q>::drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return rows_written_ == rows_taken_ || failure_ != nullptr; });
    rethrow_failure();
}

template <class Q> void SnapshotWriter<Q>::unpack_stage() {
    while (const std::optional<std::int64_t> snapshot = snapshots_.pop()) {
        const EvolvePlan& plan = target_.plan;
        for (std::int64_t row = target_.slab.first; row < target_.slab.last;
             row += plan.decomposition.chunk_rows) {
            const std::optional<std::size_t> free = free_lanes_.pop();
            if (!free) {
                return;
            }
            const ProfileRange range("unpack");
            Lane& lane = lanes_[*free];
            const RowRange rows{row,
                                std::min(row + plan.decomposition.chunk_rows, target_.slab.last)};
            const Piece piece{*snapshot, rows, *free, now()};
            copied_->hold(lane.own());
            target_.job.unpack(lane.queue, rows.count(),
                               copy_.data() +
                                   (row - target_.slab.first) * plan.shape.state_row_bytes,
                               lane.data());
            if constexpr (!Q::shares_host_memory) {
                download(lane.own(), lane.staging.data(), lane.device.data(), bytes_of(rows));
            }
            lane.done.record(lane.own());
            pieces_.push(piece);
        }
        for (Lane& lane : lanes_) {
            lane.own().synchronize();
        }
        {
            const std::lock_guard lock(mutex_);
            unpacking_ = false;
        }
        changed_.notify_all();
    }
}

template <class Q> void SnapshotWriter<Q>::write_stage() {
    while (const std::optional<Piece> piece = pieces_.pop()) {
        try {
            write(*piece);
        } catch (const Error& error) {
            std::rethrow_exception(with_place(error, *piece));
        }
        {
            const std::lock_guard lock(mutex_);
            rows_written_ += piece->rows.count();
        }
        changed_.notify_all();
        free_lanes_.push(piece->lane);
    }
}

template <class Q> void SnapshotWriter<Q>::write(const Piece& piece) {
    Lane& lane = lanes_[piece.lane];
    lane.done.wait();
    const double back = now();
    spend(Stage::download, piece, piece.begin, back);
    const std::uint64_t hash = hash_bytes(lane.staging.data(), bytes_of(piece.rows));
    const double hashed = now();
    spend(Stage::hash, piece, back, hashed);
    const std::int64_t first = piece.snapshot * target_.plan.shape.rows + piece.rows.first;
    {
        const ProfileRange range("write");
        target_.writer.write(first, piece.rows.count(), lane.staging.data());
    }
    target_.commits.add({first, piece.rows.count(), hash});
    spend(Stage::write, piece, hashed, now());
    ++target_.times.chunks;
}

/// Of this thread's stages alone; pieces overlap while they come back, so that time counts once.
template <class Q>
void SnapshotWriter<Q>::spend(Stage stage, const Piece& piece, double begin, double end) {
    const auto index = static_cast<std::size_t>(stage);
    StageTimes& times = target_.times.stages[index];
    times.busy_seconds += std::max(0.0, end - std::max(begin, stage_ends_[index]));
    stage_ends_[index] = end;
    times.bytes += bytes_of(piece.rows);
    target_.progress.busy[index].set(times.busy_seconds, std::chrono::steady_clock::now());
    ++target_.progress.steps;
    if (target_.trace != nullptr) {
        target_.trace->add({"generation " + std::to_string(target_.plan.shape.snapshots.generation(
                                                piece.snapshot)),
                            static_cast<int>(piece.lane), stage, begin, end, bytes_of(piece.rows)});
    }
}

} // namespace runner
