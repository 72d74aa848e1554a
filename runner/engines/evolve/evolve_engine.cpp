// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/evolve_engine.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "runner/engines/evolve/evolve_meeting.hpp"
#include "runner/engines/evolve/halo_exchange.hpp"
#include "runner/engines/evolve/snapshot_writer.hpp"
#include "runner/engines/evolve/state_transfer.hpp"
#include "runner/engines/take_memory.hpp"
#include "runner/recovery/checkpoints.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <variant>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two meetings of all ranks. Short beside what a person waits for, long beside what a
/// meeting costs.
constexpr double wanted_meeting_seconds = 0.1;
constexpr std::int64_t first_meeting = 16; // generations
/// A checkpoint takes at most this share of the run.
constexpr double checkpoint_share = 0.05;

/// One run on queues of one type.
template <class Q> class Evolver {
  public:
    /// Takes all memory. Collective. @throws OutOfMemory
    Evolver(const Evolution& evolution, const QueueMaker& make_queue);

    RunTimes run();

  private:
    void load();
    void advance(std::uint64_t until);
    void exchange();
    Order meet();
    void write_checkpoint();
    void keep_place();
    std::byte* state() const { return states_[static_cast<std::size_t>(current_)].data(); }
    std::byte* row(std::int64_t row) const {
        return state() + (row - held_.first) * plan_.shape.state_row_bytes;
    }
    std::int64_t rows_done() const {
        return static_cast<std::int64_t>(generation_ - plan_.shape.snapshots.first);
    }
    double now() const { return recorder_.now(); }
    std::unique_ptr<SnapshotWriter<Q>> make_snapshots(const QueueMaker& make_queue);
    void spend(Stage stage, double begin, double end, std::int64_t bytes);
    StateTransfer<Q> transfer() {
        return {plan_, slab_, snapshots_->idle_lanes(), row(slab_.first)};
    }

    const Evolution& run_;
    EvolvePlan plan_; ///< the run's, or one with smaller chunks
    RunTimes times_;
    StageRecorder recorder_;
    Queue queue_;
    Q& own_;
    RowRange slab_;
    RowRange held_;
    std::array<Buffer, 2> states_;
    Buffer tables_;
    std::unique_ptr<SnapshotWriter<Q>> snapshots_;
    HaloExchange<Q> halo_;
    int current_ = 0;      ///< of states_
    bool is_fresh_ = true; ///< the halo's rows are those of generation_
    std::uint64_t generation_ = 0;
    std::int64_t meeting_ = first_meeting; ///< generations to the next meeting
    double last_meeting_ = 0;
    double exchanged_ = 0; ///< seconds since then
    double last_checkpoint_ = 0;
    std::uint64_t checkpoint_generation_ = 0; ///< that is kept, or where this run began
};

template <class Q>
Evolver<Q>::Evolver(const Evolution& evolution, const QueueMaker& make_queue)
    : run_(evolution), plan_(evolution.plan),
      recorder_(times_, evolution.progress, evolution.trace), queue_(make_queue()),
      own_(std::get<Q>(queue_)), slab_(plan_.decomposition.slab(run_.ranks.rank())),
      held_(make_halo_plan(plan_.decomposition, run_.ranks.rank()).held),
      states_{allocate_device(own_, held_.count() * plan_.shape.state_row_bytes),
              allocate_device(own_, held_.count() * plan_.shape.state_row_bytes)},
      tables_(allocate_device(own_, plan_.table_bytes)), snapshots_(make_snapshots(make_queue)),
      halo_(plan_.decomposition, plan_.shape.state_row_bytes, run_.ranks, own_, states_,
            run_.halo) {
    run_.job.make_tables(queue_, tables_.data());
    times_.device_bytes = 2 * states_[0].size() + tables_.size() + snapshots_->device_bytes();
    times_.chunk_rows = plan_.chunk_rows();
    times_.lanes = plan_.lanes;
    times_.halo_way = name_of(halo_.way());
    own_.synchronize();
    times_.setup_seconds = now();
}

/// With chunks as small as memory asks for. The states, which cannot be smaller, are taken before.
template <class Q>
std::unique_ptr<SnapshotWriter<Q>> Evolver<Q>::make_snapshots(const QueueMaker& make_queue) {
    const auto smaller = [](const EvolvePlan& plan) { return halved(plan); };
    auto snapshots = take_fitting(run_.plan, times_.halvings, smaller, [&](const EvolvePlan& plan) {
        plan_ = plan;
        const SnapshotTarget target{plan_,        run_.job, slab_,    run_.writer,
                                    run_.commits, times_,   recorder_};
        return std::make_unique<SnapshotWriter<Q>>(target, make_queue);
    });
    report_halvings(run_.ranks.rank(), times_.halvings, run_.say);
    return snapshots;
}

template <class Q>
void Evolver<Q>::spend(Stage stage, double begin, double end, std::int64_t bytes) {
    recorder_.add(stage, generation_, 0, begin, end, bytes);
}

template <class Q> void Evolver<Q>::load() {
    if (run_.checkpoint) {
        transfer().load(open_checkpoint(run_.journal, *run_.checkpoint), recorder_, generation_);
    } else {
        transfer().load_input(run_.job, run_.reader, recorder_, times_, generation_);
    }
}

template <class Q> void Evolver<Q>::exchange() {
    own_.synchronize();
    const double begin = now();
    const std::int64_t before = halo_.bytes();
    halo_.exchange(current_);
    is_fresh_ = true;
    const double end = now();
    exchanged_ += end - begin;
    spend(Stage::exchange, begin, end, halo_.bytes() - before);
}

/// To a generation, without a meeting.
template <class Q> void Evolver<Q>::advance(std::uint64_t until) {
    const Decomposition& d = plan_.decomposition;
    while (generation_ < until) {
        if (!is_fresh_) {
            exchange();
        }
        auto step = static_cast<std::int64_t>(until - generation_);
        if (d.ranks > 1) {
            step = std::min(step, d.halo);
            is_fresh_ = false;
        }
        if (!held_.empty()) {
            const std::size_t from = static_cast<std::size_t>(current_);
            run_.job.advance(queue_, {held_.first, held_.count()}, generation_, step,
                             states_[from].data(), states_[1 - from].data(), tables_.data());
        }
        current_ = 1 - current_;
        generation_ += static_cast<std::uint64_t>(step);
    }
}

/// All ranks agree on what is next.
template <class Q> Order Evolver<Q>::meet() {
    own_.synchronize();
    const double end = now();
    spend(Stage::compute, last_meeting_, end - exchanged_, 0);
    double pause = run_.checkpoint_seconds;
    if (pause > 0 && times_.checkpoints > 0) {
        const auto written = static_cast<double>(times_.checkpoints);
        pause = std::max(pause, times_.checkpoint_seconds / written / checkpoint_share);
    }
    Order order = end - last_checkpoint_ >= pause ? Order::checkpoint : Order::proceed;
    switch (run_.stop.level()) {
    case StopLevel::none: break;
    case StopLevel::finish_chunks: order = Order::stop; break;
    case StopLevel::drop_chunks: order = Order::drop; break;
    }
    const Standing all = agree(run_.ranks, {end - last_meeting_, times_.checkpoint_seconds, order});
    const double factor =
        std::clamp(wanted_meeting_seconds / std::max(all.seconds, 1e-6), 0.25, 4.0);
    meeting_ = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(std::min(meeting_, std::int64_t{1} << 50)) * factor));
    run_.progress.rows_done = rows_done();
    run_.progress.slowest_chunk = all.seconds + all.checkpoint_seconds;
    run_.progress.begun[static_cast<std::size_t>(Stage::compute)] = rows_done() + 1;
    last_meeting_ = now();
    exchanged_ = 0;
    return all.order;
}

/// Snapshots before it first: a run that resumes from it takes them as there.
template <class Q> void Evolver<Q>::write_checkpoint() {
    const double begin = now();
    snapshots_->drain();
    run_.commits->flush();
    run_.ranks.first_alone([&] { begin_checkpoint(run_.journal, generation_); });
    CheckpointWriter writer(run_.journal, generation_, run_.ranks.rank(),
                            plan_.shape.state_row_bytes, run_.sync);
    transfer().save(writer, run_.progress);
    writer.finish();
    run_.ranks.barrier(); // whole now: the one before may go
    run_.ranks.first_alone([&] { remove_other_checkpoints(run_.journal, generation_); });
    checkpoint_generation_ = generation_;
    last_checkpoint_ = last_meeting_ = now();
    ++times_.checkpoints;
    times_.checkpoint_seconds += last_checkpoint_ - begin;
}

template <class Q> RunTimes Evolver<Q>::run() {
    const Snapshots& snapshots = plan_.shape.snapshots;
    run_.progress.unit = "generation";
    run_.progress.under_way = true;
    generation_ = run_.checkpoint.value_or(snapshots.first);
    checkpoint_generation_ = generation_;
    load();
    is_fresh_ = plan_.decomposition.ranks == 1;
    last_meeting_ = last_checkpoint_ = now();
    run_.progress[Stage::compute].begin(Clock::now());
    const std::uint64_t began = generation_;
    std::int64_t next = run_.checkpoint ? snapshots.count_until(generation_) : 0;
    const std::int64_t count = snapshots.count();
    std::uint64_t meeting = generation_ + static_cast<std::uint64_t>(meeting_);
    while (next < count) {
        const std::uint64_t until = snapshots.generation(next);
        advance(std::min(until, std::max(meeting, generation_)));
        if (generation_ == until) {
            snapshots_->take(own_, row(slab_.first), next);
            ++next;
        }
        if (generation_ < meeting || next == count) {
            continue;
        }
        const Order order = meet();
        const bool is_kept = order == Order::checkpoint || order == Order::stop;
        if (is_kept && run_.commits != nullptr && generation_ != checkpoint_generation_) {
            write_checkpoint();
        }
        if (order >= Order::stop) {
            break;
        }
        meeting = generation_ + static_cast<std::uint64_t>(meeting_);
    }
    own_.synchronize();
    spend(Stage::compute, last_meeting_, std::max(last_meeting_, now() - exchanged_), 0);
    run_.progress[Stage::compute].end();
    snapshots_->drain();
    halo_.leave();
    run_.progress.rows_done = rows_done();
    run_.progress.under_way = false;
    times_.generations = static_cast<std::int64_t>(generation_ - began);
    times_.wall_seconds = now() - times_.setup_seconds;
    return times_;
}

} // namespace

RunTimes run_evolution(const Evolution& evolution, const QueueMaker& make_queue) {
    const Queue probe = make_queue();
    return std::visit([&]<class Q>(const Q&) { return Evolver<Q>(evolution, make_queue).run(); },
                      probe);
}

} // namespace runner
