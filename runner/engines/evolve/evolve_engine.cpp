// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/evolve_engine.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "runner/engines/evolve/evolve_meeting.hpp"
#include "runner/engines/evolve/resident_state.hpp"
#include "runner/engines/evolve/swept_state.hpp"
#include "runner/output/checkpoints.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <variant>

namespace runner::evolve {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two meetings of all ranks. Short beside what a person waits for, long beside what a
/// meeting costs.
constexpr double wanted_meeting_seconds = 0.1;
constexpr std::int64_t first_meeting = 16; // generations
/// A checkpoint takes at most this share of the run.
constexpr double checkpoint_share = 0.05;

/// One run.
class Evolver {
  public:
    /// Takes all memory. Collective. @throws OutOfMemory
    Evolver(const Evolution& evolution, const QueueMaker& make_queue);

    RunTimes run();

  private:
    void advance(std::uint64_t until);
    void exchange();
    std::uint64_t next_stop(std::uint64_t snapshot, std::uint64_t meeting) const;
    Order order_or(Order otherwise) const;
    Order meet();
    void write_checkpoint();
    std::int64_t rows_done() const {
        return static_cast<std::int64_t>(generation_ - plan_.shape.snapshots.first);
    }
    double now() const { return recorder_.now(); }
    bool is_swept() const { return state_->home() != StateHome::device; }
    void spend(Stage stage, double begin, double end, std::int64_t bytes);
    void spend_computing(double end);

    const Evolution& run_;
    EvolvePlan plan_; ///< the run's, or one with smaller chunks
    RunTimes times_;
    StageRecorder recorder_;
    std::unique_ptr<EvolvingState> state_;
    bool is_fresh_ = true; ///< the halo's rows are those of generation_
    std::uint64_t generation_ = 0;
    std::int64_t meeting_ = first_meeting; ///< generations to the next meeting
    double last_meeting_ = 0;
    double exchanged_ = 0; ///< seconds since then
    double last_checkpoint_ = 0;
    std::uint64_t checkpoint_generation_ = 0; ///< that is kept, or where this run began
};

std::unique_ptr<EvolvingState> make_state(const StateMaking& making) {
    const Queue probe = making.make_queue();
    return std::visit(
        [&]<class Q>(const Q&) -> std::unique_ptr<EvolvingState> {
            if (making.plan.home == StateHome::device) {
                return std::make_unique<ResidentState<Q>>(making);
            }
            return std::make_unique<SweptState<Q>>(making);
        },
        probe);
}

Evolver::Evolver(const Evolution& evolution, const QueueMaker& make_queue)
    : run_(evolution), plan_(evolution.plan),
      recorder_(times_, evolution.progress, evolution.trace),
      state_(make_state({run_, plan_, times_, recorder_, make_queue})) {
    times_.device_bytes = state_->device_bytes();
    times_.chunk_rows = plan_.chunk_rows();
    times_.lanes = plan_.lanes;
    times_.halo_way = name_of(state_->halo_way());
    times_.state_home = name_of(state_->home());
    times_.setup_seconds = now();
}

void Evolver::spend(Stage stage, double begin, double end, std::int64_t bytes) {
    recorder_.add(stage, generation_, 0, begin, end, bytes);
}

/// What was computed since the last meeting; sweeps have recorded theirs.
void Evolver::spend_computing(double end) {
    if (!is_swept()) {
        spend(Stage::compute, last_meeting_, std::max(last_meeting_, end - exchanged_), 0);
    }
}

void Evolver::exchange() {
    state_->synchronize();
    const double begin = now();
    const std::int64_t before = state_->bytes_received();
    state_->exchange();
    is_fresh_ = true;
    const double end = now();
    exchanged_ += end - begin;
    spend(Stage::exchange, begin, end, state_->bytes_received() - before);
}

/// To a generation, without a meeting.
void Evolver::advance(std::uint64_t until) {
    const bool is_alone = plan_.decomposition.ranks == 1;
    while (generation_ < until) {
        if (!is_fresh_) {
            exchange();
        }
        auto step = static_cast<std::int64_t>(until - generation_);
        if (!is_alone || is_swept()) {
            step = std::min(step, state_->most_generations());
        }
        is_fresh_ = is_alone;
        state_->advance(generation_, step);
        generation_ += static_cast<std::uint64_t>(step);
    }
}

/// Where to advance to at once. Not even a meeting ends a sweep early; the sweeps to a snapshot are
/// equally deep.
std::uint64_t Evolver::next_stop(std::uint64_t snapshot, std::uint64_t meeting) const {
    if (!is_swept() || snapshot == generation_) {
        return std::min(snapshot, std::max(meeting, generation_));
    }
    const std::uint64_t rest = snapshot - generation_;
    const auto most = static_cast<std::uint64_t>(state_->most_generations());
    const std::uint64_t sweeps = (rest - 1) / most + 1;
    return generation_ + (rest - 1) / sweeps + 1;
}

/// What this rank was asked for, or `otherwise`.
Order Evolver::order_or(Order otherwise) const {
    switch (run_.stop.level()) {
    case StopLevel::none: break;
    case StopLevel::finish_chunks: return Order::stop;
    case StopLevel::drop_chunks: return Order::drop;
    }
    return otherwise;
}

/// All ranks agree on what is next.
Order Evolver::meet() {
    state_->synchronize();
    const double end = now();
    spend_computing(end);
    double pause = run_.checkpoint_seconds;
    if (pause > 0 && times_.checkpoints > 0) {
        const auto written = static_cast<double>(times_.checkpoints);
        pause = std::max(pause, times_.checkpoint_seconds / written / checkpoint_share);
    }
    const Order order =
        order_or(end - last_checkpoint_ >= pause ? Order::checkpoint : Order::proceed);
    const MeetingReport all =
        agree(run_.ranks, {end - last_meeting_, times_.checkpoint_seconds, order});
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
void Evolver::write_checkpoint() {
    const double begin = now();
    state_->drain();
    run_.commits->flush();
    run_.ranks.first_alone([&] { output::begin_checkpoint(run_.journal, generation_); });
    output::CheckpointWriter writer(run_.journal, generation_, run_.ranks.rank(),
                                    plan_.shape.state_row_bytes, run_.sync);
    state_->save(writer, run_.progress);
    writer.finish();
    run_.ranks.barrier(); // whole now: the one before may go
    run_.ranks.first_alone([&] { output::remove_other_checkpoints(run_.journal, generation_); });
    checkpoint_generation_ = generation_;
    last_checkpoint_ = last_meeting_ = now();
    ++times_.checkpoints;
    times_.checkpoint_seconds += last_checkpoint_ - begin;
}

RunTimes Evolver::run() {
    const Snapshots& snapshots = plan_.shape.snapshots;
    run_.progress.unit = "generation";
    run_.progress.under_way = true;
    generation_ = run_.checkpoint.value_or(snapshots.first);
    checkpoint_generation_ = generation_;
    // What was asked before may have left the tables undefined.
    const bool begins = agree(run_.ranks, {0, 0, order_or(Order::proceed)}).order < Order::stop;
    if (begins) {
        state_->load(generation_);
    }
    is_fresh_ = plan_.decomposition.ranks == 1;
    last_meeting_ = last_checkpoint_ = now();
    run_.progress[Stage::compute].begin(Clock::now());
    const std::uint64_t began = generation_;
    std::int64_t next = run_.checkpoint ? snapshots.count_until(generation_) : 0;
    const std::int64_t count = snapshots.count();
    std::uint64_t meeting = generation_ + static_cast<std::uint64_t>(meeting_);
    while (begins && next < count) {
        const std::uint64_t until = snapshots.generation(next);
        advance(next_stop(until, meeting));
        if (generation_ == until) {
            state_->take_snapshot(next);
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
    state_->synchronize();
    spend_computing(now());
    run_.progress[Stage::compute].end();
    state_->drain();
    state_->leave();
    run_.progress.rows_done = rows_done();
    run_.progress.under_way = false;
    times_.generations = static_cast<std::int64_t>(generation_ - began);
    times_.wall_seconds = now() - times_.setup_seconds;
    return times_;
}

} // namespace

RunTimes run_evolution(const Evolution& evolution, const QueueMaker& make_queue) {
    return Evolver(evolution, make_queue).run();
}

} // namespace runner::evolve
