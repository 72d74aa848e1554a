// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/format.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "jobs/evolve_job.hpp"
#include "kernels/queue/devices.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/awaited.hpp"
#include "runner/engines/channel.hpp"
#include "runner/engines/evolve/state_store.hpp"
#include "runner/engines/stage_recorder.hpp"
#include "runner/engines/stage_threads.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/output/commits.hpp"
#include "runner/plan/evolve_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace runner::evolve {

/// What snapshots are taken of and where they go; everything outlives the writer.
struct SnapshotTarget {
    const EvolvePlan& plan;
    const EvolveJob& job;
    RowRange slab;
    RowWriter& writer;
    output::Commits* commits; ///< null: nothing keeps what is done
    RunTimes& times;
    StageRecorder& recorder;
    const StateStore* store; ///< of the state; null: it is on the device
};

/// Unpacks, copies and writes the rank's rows of a state: two threads, over the plan's lanes. A
/// state on the device is copied there first, so that it may change at once: the next generations
/// are computed meanwhile.
template <class Q> class SnapshotWriter {
  public:
    /// The memory of a chunk in flight, and its queue.
    struct Lane {
        Queue queue;
        Buffer staging; ///< plan.chunk_bytes(), of the host
        Buffer device;  ///< as many; empty where the queue computes in the staging buffer
        Buffer packed;  ///< plan.packed_bytes() of the device, of a state that is kept elsewhere
        Buffer packed_staging; ///< as many of the host, of a state in a file
        typename Q::Event done;

        Q& own() { return std::get<Q>(queue); }
        std::byte* data() const { return Q::shares_host_memory ? staging.data() : device.data(); }
    };

    /// Takes all memory. What the threads have not written when the writer ends is lost.
    /// @throws OutOfMemory
    SnapshotWriter(const SnapshotTarget& target, const QueueMaker& make_queue);
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;
    ~SnapshotWriter() = default;

    /// Takes the slab's rows of `state`, as `queue` leaves them, for the index-th snapshot. The
    /// queue's later work may change them. Waits until the snapshot before is unpacked.
    /// @throws what the threads failed with.
    void take(Q& queue, const std::byte* state, std::int64_t index);

    /// Writes the slab's rows as the store has them for the index-th snapshot, and waits for that.
    /// @throws what the threads failed with.
    void write_stored(std::int64_t index);

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

    /// What is under way.
    struct Standing {
        bool unpacking = false;
        std::int64_t rows_left = 0; ///< taken and not yet written
    };

    bool begin_snapshot();
    void unpack_stage();
    void unpack(const Piece& piece);
    const std::byte* packed_rows(const Piece& piece);
    void write_stage();
    void write(const Piece& piece);
    void cut();
    std::string place(Stage stage) const;
    std::uint64_t generation(const Piece& piece) const {
        return target_.plan.shape.snapshots.generation(piece.snapshot);
    }
    void add(Stage stage, const Piece& piece, double begin, double end);
    std::int64_t bytes_of(const RowRange& rows) const {
        return rows.count() * target_.plan.shape.out_row_bytes;
    }

    SnapshotTarget target_;
    RowHasher hasher_;
    std::deque<Lane> lanes_;
    Buffer copy_; ///< of the slab's rows of the state
    std::optional<typename Q::Event> copied_;
    std::int64_t device_bytes_ = 0;
    Channel<std::size_t> free_lanes_;
    Channel<std::int64_t> snapshots_;
    Channel<Piece> pieces_;
    Awaited<Standing> standing_;
    Piece unpacked_; ///< and written_: what each thread works on
    Piece written_;
    StageThreads threads_;
};

template <class Q>
SnapshotWriter<Q>::SnapshotWriter(const SnapshotTarget& target, const QueueMaker& make_queue)
    : target_(target), hasher_(target_.plan.io_threads, target_.plan.decomposition.alignment),
      threads_([this] { cut(); }, [this](Stage stage) { return place(stage); }) {
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
        Buffer packed;
        Buffer packed_staging;
        if (target_.store != nullptr && !Q::shares_host_memory) {
            packed = allocate_device(own, plan.packed_bytes());
            device_bytes_ += packed.size();
        }
        if (target_.store != nullptr && target_.store->is_file()) {
            packed_staging = allocate_staging(own, plan.packed_bytes());
        }
        typename Q::Event done(own);
        lanes_.push_back({std::move(queue), std::move(staging), std::move(device),
                          std::move(packed), std::move(packed_staging), std::move(done)});
        free_lanes_.push(static_cast<std::size_t>(i));
    }
    Q& first = lanes_.front().own();
    if (target_.store == nullptr) {
        copy_ = allocate_device(first, target_.slab.count() * plan.shape.state_row_bytes);
        device_bytes_ += copy_.size();
    }
    copied_.emplace(first);
    check_launch_room(first);
    threads_.start(Stage::download, [this] { unpack_stage(); });
    threads_.start(Stage::write, [this] { write_stage(); });
}

template <class Q> void SnapshotWriter<Q>::cut() {
    free_lanes_.cut();
    snapshots_.cut();
    pieces_.cut();
    standing_.wake();
}

template <class Q> std::string SnapshotWriter<Q>::place(Stage stage) const {
    const Piece& piece = stage == Stage::write ? written_ : unpacked_;
    return fmt::format("snapshot of generation {}, rows {} to {}", generation(piece),
                       piece.rows.first, piece.rows.last - 1);
}

/// Waits until the snapshot before is unpacked; false where the rank has no rows.
template <class Q> bool SnapshotWriter<Q>::begin_snapshot() {
    standing_.wait(threads_, [](const Standing& now) { return !now.unpacking; });
    if (target_.slab.empty()) {
        return false;
    }
    standing_.change([&](Standing& now) {
        now.unpacking = true;
        now.rows_left += target_.slab.count();
    });
    return true;
}

template <class Q>
void SnapshotWriter<Q>::take(Q& queue, const std::byte* state, std::int64_t index) {
    if (begin_snapshot()) {
        copy_on_device(queue, copy_.data(), state, copy_.size());
        copied_->record(queue);
        snapshots_.push(index);
    }
}

template <class Q> void SnapshotWriter<Q>::write_stored(std::int64_t index) {
    if (begin_snapshot()) {
        snapshots_.push(index);
        drain();
    }
}

template <class Q> void SnapshotWriter<Q>::drain() {
    standing_.wait(threads_, [](const Standing& now) { return now.rows_left == 0; });
}

template <class Q> void SnapshotWriter<Q>::unpack_stage() {
    while (const std::optional<std::int64_t> snapshot = snapshots_.pop()) {
        const std::int64_t step = target_.plan.decomposition.chunk_rows;
        for (std::int64_t row = target_.slab.first; row < target_.slab.last; row += step) {
            const std::optional<std::size_t> lane = free_lanes_.pop();
            if (!lane) {
                return;
            }
            const RowRange rows{row, std::min(row + step, target_.slab.last)};
            unpacked_ = {*snapshot, rows, *lane, target_.recorder.now()};
            unpack(unpacked_);
            pieces_.push(unpacked_);
        }
        for (Lane& lane : lanes_) {
            lane.own().synchronize();
        }
        standing_.change([](Standing& now) { now.unpacking = false; });
    }
}

/// The piece's rows of the state, for the work of its lane's queue.
template <class Q> const std::byte* SnapshotWriter<Q>::packed_rows(const Piece& piece) {
    Lane& lane = lanes_[piece.lane];
    if (target_.store == nullptr) {
        copied_->hold(lane.own());
        return copy_.data() +
               (piece.rows.first - target_.slab.first) * target_.plan.shape.state_row_bytes;
    }
    const std::byte* const rows = target_.store->fetch(piece.rows, lane.packed_staging.data());
    if constexpr (Q::shares_host_memory) {
        return rows;
    }
    upload(lane.own(), lane.packed.data(), rows, target_.store->bytes_of(piece.rows));
    return lane.packed.data();
}

template <class Q> void SnapshotWriter<Q>::unpack(const Piece& piece) {
    const ProfileRange range("unpack");
    Lane& lane = lanes_[piece.lane];
    target_.job.unpack(lane.queue, piece.rows.count(), packed_rows(piece), lane.data());
    if constexpr (!Q::shares_host_memory) {
        download(lane.own(), lane.staging.data(), lane.device.data(), bytes_of(piece.rows));
    }
    lane.done.record(lane.own());
}

template <class Q> void SnapshotWriter<Q>::write_stage() {
    while (const std::optional<Piece> piece = pieces_.pop()) {
        written_ = *piece;
        write(*piece);
        standing_.change([&](Standing& now) { now.rows_left -= piece->rows.count(); });
        free_lanes_.push(piece->lane);
    }
}

template <class Q> void SnapshotWriter<Q>::write(const Piece& piece) {
    Lane& lane = lanes_[piece.lane];
    lane.done.wait();
    const double back = target_.recorder.now();
    add(Stage::download, piece, piece.begin, back);
    const std::int64_t first = piece.snapshot * target_.plan.shape.rows + piece.rows.first;
    std::vector<RowHash> hashes;
    if (target_.commits != nullptr) {
        hashes = hasher_.hash(first, piece.rows.count(), target_.plan.shape.out_row_bytes,
                              lane.staging.data());
    }
    const double hashed = target_.recorder.now();
    add(Stage::hash, piece, back, hashed);
    {
        const ProfileRange range("write");
        target_.writer.write(first, piece.rows.count(), lane.staging.data());
    }
    if (target_.commits != nullptr) {
        target_.commits->add(hashes);
    }
    add(Stage::write, piece, hashed, target_.recorder.now());
    ++target_.times.chunks;
}

template <class Q>
void SnapshotWriter<Q>::add(Stage stage, const Piece& piece, double begin, double end) {
    target_.recorder.add(stage, generation(piece), piece.lane, begin, end, bytes_of(piece.rows));
}

} // namespace runner::evolve
