// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/evolve/evolve_engine.hpp"
#include "runner/engines/evolve/halo_way.hpp"
#include "runner/engines/evolve/snapshot_writer.hpp"
#include "runner/engines/stage_recorder.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/output/checkpoints.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/ticker.hpp"

#include <cstdint>
#include <memory>

namespace runner::evolve {

/// A rank's share of a state, with all memory that evolving it takes. From the main thread.
class EvolvingState {
  public:
    EvolvingState() = default;
    EvolvingState(const EvolvingState&) = delete;
    EvolvingState& operator=(const EvolvingState&) = delete;
    virtual ~EvolvingState() = default;

    /// Fills the slab's rows from the run's checkpoint, or from its input.
    virtual void load(std::uint64_t generation) = 0;
    /// Brings the rows around the slab up to date. Collective.
    virtual void exchange() = 0;
    /// Generations after which exchange() is due, and the most that advance() computes at once.
    virtual std::int64_t most_generations() const = 0;
    /// Advances the slab's rows by this number of generations.
    virtual void advance(std::uint64_t generation, std::int64_t generations) = 0;
    /// Waits until the device has done all its work.
    virtual void synchronize() = 0;
    /// Hands the slab's rows to the output's writer as the index-th snapshot.
    virtual void take_snapshot(std::int64_t index) = 0;
    /// Waits until the output's writer has all snapshots.
    virtual void drain() = 0;
    /// Writes the slab's rows, after drain().
    virtual void save(output::CheckpointWriter& checkpoint, RunProgress& progress) = 0;
    /// Lets go of other ranks' memory. Collective, once, after the last exchange().
    virtual void leave() = 0;

    virtual StateHome home() const = 0;
    virtual HaloWay halo_way() const = 0;
    virtual std::int64_t bytes_received() const = 0;
    virtual std::int64_t device_bytes() const = 0;
};

/// What a state is made from; everything outlives it.
struct StateMaking {
    const Evolution& run;
    EvolvePlan& plan; ///< the run's; make_snapshots() makes its chunks smaller if memory is short
    RunTimes& times;
    StageRecorder& recorder;
    const QueueMaker& make_queue;

    RowRange slab() const { return plan.decomposition.slab(run.ranks.rank()); }
};

/// Has the job fill its tables on the queue. Where the run is to stop meanwhile they are left
/// undefined, and so is the queue.
inline void make_tables(const Evolution& run, Queue& queue, std::byte* tables) {
    std::visit(
        [&](auto& own) {
            try {
                const Ticker look([&run, meter = own.meter()] {
                    if (run.stop.level() != StopLevel::none) {
                        meter->drop();
                    }
                });
                run.job.make_tables(queue, tables);
                own.synchronize();
            } catch (const WorkDropped&) { // the run's next meeting ends it
            }
        },
        queue);
}

/// Makes the plan's chunks as small as memory requires. Memory whose size does not depend on chunks
/// is taken before. `store`: as SnapshotTarget::store.
template <class Q>
std::unique_ptr<SnapshotWriter<Q>> make_snapshots(const StateMaking& making,
                                                  const StateStore* store) {
    const auto smaller = [](const EvolvePlan& plan) { return halved(plan); };
    auto snapshots =
        take_fitting(making.run.plan, making.times.halvings, smaller, [&](const EvolvePlan& plan) {
            making.plan = plan;
            const SnapshotTarget target{
                making.plan,        making.run.job, making.slab(),   making.run.writer,
                making.run.commits, making.times,   making.recorder, store};
            return std::make_unique<SnapshotWriter<Q>>(target, making.make_queue);
        });
    report_halvings(making.run.ranks.rank(), making.times.halvings, making.run.say);
    return snapshots;
}

} // namespace runner::evolve
