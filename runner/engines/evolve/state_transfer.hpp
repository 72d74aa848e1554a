// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/rows/rows.hpp"
#include "jobs/evolve_job.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/evolve/evolve_engine.hpp"
#include "runner/engines/evolve/snapshot_writer.hpp"
#include "runner/engines/evolve/state_store.hpp"
#include "runner/engines/stage_recorder.hpp"
#include "runner/output/checkpoints.hpp"
#include "runner/plan/evolve_plan.hpp"
#include "runner/watch/stages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace runner::evolve {

/// Moves a rank's rows of a state between storage and its device, or the store where it is kept:
/// chunk by chunk, over the lanes of a snapshot writer while that has no work.
template <class Q> class StateTransfer {
  public:
    using Lane = typename SnapshotWriter<Q>::Lane;

    /// `state`: where the slab's first row is on the device. All outlives the transfer.
    StateTransfer(const EvolvePlan& plan, const RowRange& slab, std::deque<Lane>& lanes,
                  std::byte* state)
        : plan_(plan), slab_(slab), lanes_(lanes), state_(state) {}
    StateTransfer(const EvolvePlan& plan, const RowRange& slab, std::deque<Lane>& lanes,
                  StateStore& store)
        : plan_(plan), slab_(slab), lanes_(lanes), store_(&store) {}

    /// Fills the rows from the run's checkpoint, or from its input. `generation`: for the record.
    /// @throws Error (input) for a byte of the input that stands for nothing.
    void fill(const Evolution& run, StageRecorder& recorder, RunTimes& times,
              std::uint64_t generation) {
        if (run.checkpoint) {
            load(output::open_checkpoint(run.journal, *run.checkpoint), recorder, generation);
        } else {
            load_input(run.job, run.reader, recorder, times, generation);
        }
    }

    /// Writes the rows, counting a step of `progress` for each chunk.
    void save(output::CheckpointWriter& checkpoint, RunProgress& progress);

  private:
    /// Where a lane's packing records the first wrong byte.
    struct Check {
        Buffer device;
        Buffer host;
        RowRange rows;
        std::byte* stored = nullptr; ///< where the store takes the rows from
    };

    void load_input(const EvolveJob& job, RowReader& reader, StageRecorder& recorder,
                    RunTimes& times, std::uint64_t generation);
    void load(const File& checkpoint, StageRecorder& recorder, std::uint64_t generation);
    std::vector<Check> make_checks();
    void finish(std::size_t lane, Check& check, const EvolveJob& job);
    template <class Body> void for_each_chunk(Body body);
    std::byte* packing_place(Lane& lane, Check& check);
    void bring_back(Lane& lane, Check& check);
    std::byte* row(std::int64_t row) const {
        return state_ + (row - slab_.first) * plan_.shape.state_row_bytes;
    }

    const EvolvePlan& plan_;
    RowRange slab_;
    std::deque<Lane>& lanes_;
    std::byte* state_ = nullptr;
    StateStore* store_ = nullptr;
};

/// Calls body(lane, rows) for the slab's rows, chunk by chunk over the lanes by turns.
template <class Q> template <class Body> void StateTransfer<Q>::for_each_chunk(Body body) {
    const std::int64_t step = plan_.decomposition.chunk_rows;
    std::size_t lane = 0;
    for (std::int64_t first = slab_.first; first < slab_.last; first += step) {
        body(lane, RowRange{first, std::min(first + step, slab_.last)});
        lane = (lane + 1) % lanes_.size();
    }
}

template <class Q> std::vector<typename StateTransfer<Q>::Check> StateTransfer<Q>::make_checks() {
    std::vector<Check> checks;
    checks.reserve(lanes_.size());
    for (Lane& lane : lanes_) {
        checks.push_back({allocate_device(lane.own(), sizeof(std::int64_t)),
                          allocate_staging(lane.own(), sizeof(std::int64_t)),
                          {}});
    }
    return checks;
}

/// Waits until the lane has packed its chunk, if it has one, and stores it.
template <class Q>
void StateTransfer<Q>::finish(std::size_t index, Check& check, const EvolveJob& job) {
    if (check.rows.empty()) {
        return;
    }
    const std::int64_t row_bytes = plan_.shape.in_row_bytes;
    lanes_[index].done.wait();
    const Buffer& wrong = Q::shares_host_memory ? check.device : check.host;
    const std::int64_t place = *reinterpret_cast<const std::int64_t*>(wrong.data());
    if (place < check.rows.count() * row_bytes) {
        throw Error(ExitCode::input,
                    job.wrong_byte(check.rows.first + place / row_bytes, place % row_bytes,
                                   lanes_[index].staging.data()[place]));
    }
    if (store_ != nullptr) {
        store_->put(StateStore::Version::current, check.rows, check.stored);
    }
    check.rows = {};
}

/// Where the lane's queue packs the rows to.
template <class Q> std::byte* StateTransfer<Q>::packing_place(Lane& lane, Check& check) {
    if (store_ == nullptr) {
        return row(check.rows.first);
    }
    check.stored =
        store_->place(StateStore::Version::current, check.rows, lane.packed_staging.data());
    return Q::shares_host_memory ? check.stored : lane.packed.data();
}

/// Copies what finish() needs to the host.
template <class Q> void StateTransfer<Q>::bring_back(Lane& lane, Check& check) {
    if constexpr (!Q::shares_host_memory) {
        download(lane.own(), check.host.data(), check.device.data(), sizeof(std::int64_t));
        if (store_ != nullptr) {
            download(lane.own(), check.stored, lane.packed.data(), store_->bytes_of(check.rows));
        }
    }
    lane.done.record(lane.own());
}

template <class Q>
void StateTransfer<Q>::load_input(const EvolveJob& job, RowReader& reader, StageRecorder& recorder,
                                  RunTimes& times, std::uint64_t generation) {
    std::vector<Check> checks = make_checks();
    for_each_chunk([&](std::size_t index, const RowRange& rows) {
        Lane& lane = lanes_[index];
        Check& check = checks[index];
        finish(index, check, job);
        const double begin = recorder.now();
        reader.read(plan_.shape.input_frame * plan_.shape.rows + rows.first, rows.count(),
                    lane.staging.data());
        const std::int64_t bytes = rows.count() * plan_.shape.in_row_bytes;
        recorder.add(Stage::read, generation, 0, begin, recorder.now(), bytes);
        if constexpr (!Q::shares_host_memory) {
            upload(lane.own(), lane.device.data(), lane.staging.data(), bytes);
            times[Stage::upload].bytes += bytes;
        }
        auto* const wrong = reinterpret_cast<std::int64_t*>(check.device.data());
        check.rows = rows;
        job.pack(lane.queue, rows.count(), lane.data(), packing_place(lane, check), wrong);
        bring_back(lane, check);
    });
    for (std::size_t i = 0; i < checks.size(); ++i) {
        finish(i, checks[i], job);
    }
}

template <class Q>
void StateTransfer<Q>::load(const File& checkpoint, StageRecorder& recorder,
                            std::uint64_t generation) {
    for_each_chunk([&](std::size_t index, const RowRange& rows) {
        Lane& lane = lanes_[index];
        const double begin = recorder.now();
        const std::int64_t from = rows.first * plan_.shape.state_row_bytes;
        const std::int64_t bytes = rows.count() * plan_.shape.state_row_bytes;
        if (store_ != nullptr) {
            std::byte* const place =
                store_->place(StateStore::Version::current, rows, lane.packed_staging.data());
            checkpoint.read(from, bytes, place);
            store_->put(StateStore::Version::current, rows, place);
        } else if constexpr (Q::shares_host_memory) {
            checkpoint.read(from, bytes, row(rows.first));
        } else {
            lane.done.wait();
            checkpoint.read(from, bytes, lane.staging.data());
            upload(lane.own(), row(rows.first), lane.staging.data(), bytes);
            lane.done.record(lane.own());
        }
        recorder.add(Stage::read, generation, 0, begin, recorder.now(), bytes);
    });
    for (Lane& lane : lanes_) {
        lane.own().synchronize();
    }
}

template <class Q>
void StateTransfer<Q>::save(output::CheckpointWriter& checkpoint, RunProgress& progress) {
    for_each_chunk([&](std::size_t index, const RowRange& rows) {
        Lane& lane = lanes_[index];
        const std::byte* from = nullptr;
        if (store_ != nullptr) {
            from = store_->fetch(rows, lane.packed_staging.data());
        } else if constexpr (Q::shares_host_memory) {
            from = row(rows.first);
        } else {
            download(lane.own(), lane.staging.data(), row(rows.first),
                     rows.count() * plan_.shape.state_row_bytes);
            lane.own().synchronize();
            from = lane.staging.data();
        }
        checkpoint.write(rows.first, rows.count(), from);
        ++progress.steps;
    });
}

} // namespace runner::evolve
