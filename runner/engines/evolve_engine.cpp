// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve_engine.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "runner/engines/halo_exchange.hpp"
#include "runner/engines/snapshot_writer.hpp"
#include "runner/recovery/checkpoints.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <sstream>
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

enum class Order { proceed, checkpoint, stop, drop };

/// What a rank says when all meet, and what they agree on: the largest of each.
struct Standing {
    double seconds = 0;    ///< since the meeting before
    double checkpoint = 0; ///< seconds that the last checkpoint took
    int order = 0;
};

std::string to_text(const Standing& standing) {
    std::ostringstream text;
    text.precision(17);
    text << standing.seconds << ' ' << standing.checkpoint << ' ' << standing.order;
    return text.str();
}

Standing agree(const Ranks& ranks, const Standing& mine) {
    Standing all;
    for (const std::string& text : ranks.gather(to_text(mine))) {
        std::istringstream numbers(text);
        Standing each;
        numbers >> each.seconds >> each.checkpoint >> each.order;
        all.seconds = std::max(all.seconds, each.seconds);
        all.checkpoint = std::max(all.checkpoint, each.checkpoint);
        all.order = std::max(all.order, each.order);
    }
    return all;
}

/// One run on queues of one type.
template <class Q> class Evolver {
  public:
    /// Takes all memory. Collective. @throws OutOfMemory
    Evolver(const Evolution& evolution, const QueueMaker& make_queue);

    RunTimes run();

  private:
    using Lane = typename SnapshotWriter<Q>::Lane;

    void load_input();
    void load_checkpoint();
    void check_cells(std::size_t lane, const RowRange& rows);
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
    double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
    void spend(Stage stage, double begin, double end, std::int64_t bytes);
    template <class Body> void for_each_chunk(Body body);

    const Evolution& run_;
    const EvolvePlan& plan_;
    RunTimes times_;
    Clock::time_point begin_ = Clock::now();
    Queue queue_;
    Q& own_;
    RowRange slab_;
    RowRange held_;
    std::array<Buffer, 2> states_;
    Buffer tables_;
    SnapshotWriter<Q> snapshots_;
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
    : run_(evolution), plan_(evolution.plan), queue_(make_queue()), own_(std::get<Q>(queue_)),
      slab_(plan_.decomposition.slab(run_.ranks.rank())),
      held_(make_halo_plan(plan_.decomposition, run_.ranks.rank()).held),
      states_{allocate_device(own_, held_.count() * plan_.shape.state_row_bytes),
              allocate_device(own_, held_.count() * plan_.shape.state_row_bytes)},
      tables_(allocate_device(own_, plan_.table_bytes)),
      snapshots_({plan_, run_.job, slab_, run_.writer, run_.commits, times_, run_.progress,
                  run_.trace, begin_},
                 make_queue),
      halo_(plan_.decomposition, plan_.shape.state_row_bytes, run_.ranks, own_, states_,
            run_.halo) {
    run_.job.make_tables(queue_, tables_.data());
    times_.device_bytes = 2 * states_[0].size() + tables_.size() + snapshots_.device_bytes();
    times_.chunk_rows = plan_.decomposition.chunk_rows;
    times_.lanes = plan_.lanes;
    times_.halo_way = name_of(halo_.way());
    own_.synchronize();
    times_.setup_seconds = now();
}

template <class Q>
void Evolver<Q>::spend(Stage stage, double begin, double end, std::int64_t bytes) {
    StageTimes& times = times_[stage];
    times.busy_seconds += end - begin;
    times.bytes += bytes;
    run_.progress[stage].set(times.busy_seconds, Clock::now());
    ++run_.progress.steps;
    if (run_.trace != nullptr) {
        run_.trace->add({"generation " + std::to_string(generation_), 0, stage, begin, end, bytes});
    }
}

/// Calls body(lane, rows) for the slab's rows, chunk by chunk over the lanes by turns.
template <class Q> template <class Body> void Evolver<Q>::for_each_chunk(Body body) {
    const std::int64_t step = plan_.decomposition.chunk_rows;
    const auto lanes = snapshots_.idle_lanes().size();
    std::size_t lane = 0;
    for (std::int64_t first = slab_.first; first < slab_.last; first += step) {
        body(lane, RowRange{first, std::min(first + step, slab_.last)});
        lane = (lane + 1) % lanes;
    }
}

template <class Q> void Evolver<Q>::load_input() {
    std::deque<Lane>& lanes = snapshots_.idle_lanes();
    const std::int64_t row_bytes = plan_.shape.in_row_bytes;
    struct Check {
        Buffer device;
        Buffer host;
        RowRange rows;
    };
    std::vector<Check> checks;
    checks.reserve(lanes.size());
    for (Lane& lane : lanes) {
        checks.push_back({allocate_device(lane.own(), sizeof(std::int64_t)),
                          allocate_staging(lane.own(), sizeof(std::int64_t)),
                          {}});
    }
    const auto finish = [&](std::size_t index) {
        Check& check = checks[index];
        if (check.rows.empty()) {
            return;
        }
        lanes[index].done.wait();
        const Buffer& wrong = Q::shares_host_memory ? check.device : check.host;
        const std::int64_t place = *reinterpret_cast<const std::int64_t*>(wrong.data());
        if (place < check.rows.count() * row_bytes) {
            throw Error(ExitCode::input,
                        run_.job.wrong_byte(check.rows.first + place / row_bytes, place % row_bytes,
                                            lanes[index].staging.data()[place]));
        }
        check.rows = {};
    };
    for_each_chunk([&](std::size_t index, const RowRange& rows) {
        finish(index);
        Lane& lane = lanes[index];
        Check& check = checks[index];
        const double begin = now();
        run_.reader.read(plan_.shape.input_frame * plan_.shape.rows + rows.first, rows.count(),
                         lane.staging.data());
        const std::int64_t bytes = rows.count() * row_bytes;
        spend(Stage::read, begin, now(), bytes);
        if constexpr (!Q::shares_host_memory) {
            upload(lane.own(), lane.device.data(), lane.staging.data(), bytes);
            times_[Stage::upload].bytes += bytes;
        }
        auto* const wrong = reinterpret_cast<std::int64_t*>(check.device.data());
        run_.job.pack(lane.queue, rows.count(), lane.data(), row(rows.first), wrong);
        if constexpr (!Q::shares_host_memory) {
            download(lane.own(), check.host.data(), check.device.data(), sizeof(std::int64_t));
        }
        lane.done.record(lane.own());
        check.rows = rows;
    });
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        finish(i);
    }
}

template <class Q> void Evolver<Q>::load_checkpoint() {
    const File file = open_checkpoint(run_.journal, *run_.checkpoint);
    std::deque<Lane>& lanes = snapshots_.idle_lanes();
    for_each_chunk([&](std::size_t index, const RowRange& rows) {
        Lane& lane = lanes[index];
        const double begin = now();
        const std::int64_t bytes = rows.count() * plan_.shape.state_row_bytes;
        if constexpr (Q::shares_host_memory) {
            file.read(rows.first * plan_.shape.state_row_bytes, bytes, row(rows.first));
        } else {
            lane.done.wait();
            file.read(rows.first * plan_.shape.state_row_bytes, bytes, lane.staging.data());
            upload(lane.own(), row(rows.first), lane.staging.data(), bytes);
            lane.done.record(lane.own());
        }
        spend(Stage::read, begin, now(), bytes);
    });
    for (Lane& lane : lanes) {
        lane.own().synchronize();
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
    Standing mine{end - last_meeting_, times_.checkpoint_seconds, 0};
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
    mine.order = static_cast<int>(order);
    const Standing all = agree(run_.ranks, mine);
    const double factor =
        std::clamp(wanted_meeting_seconds / std::max(all.seconds, 1e-6), 0.25, 4.0);
    meeting_ = std::max<std::int64_t>(
        1, std::llround(static_cast<double>(std::min(meeting_, std::int64_t{1} << 50)) * factor));
    run_.progress.rows_done = rows_done();
    run_.progress.slowest_chunk = all.seconds + all.checkpoint;
    run_.progress.begun[static_cast<std::size_t>(Stage::compute)] = rows_done() + 1;
    last_meeting_ = now();
    exchanged_ = 0;
    return static_cast<Order>(all.order);
}

/// Snapshots before it first: a run that resumes from it takes them as there.
template <class Q> void Evolver<Q>::write_checkpoint() {
    const double begin = now();
    snapshots_.drain();
    run_.commits.flush();
    run_.ranks.first_alone([&] { begin_checkpoint(run_.journal, generation_); });
    CheckpointWriter writer(run_.journal, generation_, run_.ranks.rank(),
                            plan_.shape.state_row_bytes, run_.sync);
    std::deque<Lane>& lanes = snapshots_.idle_lanes();
    for_each_chunk([&](std::size_t index, const RowRange& rows) {
        Lane& lane = lanes[index];
        const std::byte* from = row(rows.first);
        if constexpr (!Q::shares_host_memory) {
            download(lane.own(), lane.staging.data(), from,
                     rows.count() * plan_.shape.state_row_bytes);
            lane.own().synchronize();
            from = lane.staging.data();
        }
        writer.write(rows.first, rows.count(), from);
        ++run_.progress.steps;
    });
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
    run_.checkpoint ? load_checkpoint() : load_input();
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
            snapshots_.take(own_, row(slab_.first), next);
            ++next;
        }
        if (generation_ < meeting || next == count) {
            continue;
        }
        const Order order = meet();
        if (order == Order::checkpoint || order == Order::stop) {
            if (generation_ != checkpoint_generation_) {
                write_checkpoint();
            }
        }
        if (order >= Order::stop) {
            break;
        }
        meeting = generation_ + static_cast<std::uint64_t>(meeting_);
    }
    own_.synchronize();
    spend(Stage::compute, last_meeting_, std::max(last_meeting_, now() - exchanged_), 0);
    run_.progress[Stage::compute].end();
    snapshots_.drain();
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
