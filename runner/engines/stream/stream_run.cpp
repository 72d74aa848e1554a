// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stream/stream_run.hpp"

#include "base/sizes.hpp"
#include "jobs/stream_job.hpp"
#include "runner/engines/stream/border_rows.hpp"
#include "runner/engines/stream/compute_rows.hpp"
#include "runner/engines/stream/stream_engine.hpp"
#include "runner/plan/stream_plan.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace runner::stream {
namespace {

/// The bytes of a piece of rows that are counted again: little beside what the stream took before.
constexpr std::int64_t count_piece_bytes = 4 * MiB;

/// A rank's share of the finished rows of the input.
RowSet part_of_finished(const Decomposition& d, const Ranks& ranks) {
    Decomposition finished = d;
    finished.done = subtract({{0, d.total_rows()}}, d.done); // the others deal out these
    return intersect(d.done, {finished.slab(ranks.rank())});
}

class StreamRun final : public EngineRun {
  public:
    StreamRun(const StreamJob& job, const StreamPlan& plan, const RunContext& context)
        : job_(job), plan_(plan), context_(context),
          to_do_(plan.decomposition.rows_to_do(plan.decomposition.slab(context.ranks.rank()))),
          border_(plan.decomposition, context.ranks.rank(), plan.shape.in_row_bytes) {
        border_.read_own(*context_.open.reader);
    }

    void exchange() override { border_.exchange(context_.ranks); }

    RunTimes run(const RunOutlets& outlets) override {
        OpenRun& open = context_.open;
        const Stream stream{plan_,          job_,          context_.ranks.rank(),
                            *open.reader,   border_,       *open.writer,
                            open.progress,  outlets.trace, open.commits.get(),
                            &context_.stop, outlets.say};
        RunTimes times = run_stream(stream, outlets.make_queue);
        count_earlier_rows(times);
        times[Stage::read].bytes = border_.bytes_read(); // of storage: no row twice
        times.border_bytes_sent = border_.bytes_sent();
        times.border_rows_held = border_.rows_held();
        return times;
    }

    ProgressSnapshot snapshot() const override {
        ProgressSnapshot now;
        now.rows_done = context_.open.progress.rows_in_work(std::chrono::steady_clock::now());
        now.rows_total = to_do_;
        // The first rank's slab stands for all: the others have as many rows.
        now.amount_done = now.rows_done * plan_.decomposition.ranks * plan_.bytes_a_row();
        return now;
    }

    std::optional<Stopped> agree_on_stop() const override {
        const Decomposition& d = plan_.decomposition;
        return agree_on_rows(to_do_, count_rows(d.done), d.total_rows(), context_);
    }

  private:
    /// Adds the counts of this rank's share of the rows that earlier runs made, which nobody has
    /// kept: they are counted from the input again.
    void count_earlier_rows(RunTimes& times) const {
        const std::shared_ptr<const StreamJob> part = job_.counting_part();
        if (part == nullptr || context_.stop.level() != StopLevel::none) {
            return;
        }
        if (plan_.decomposition.done.empty()) {
            return;
        }
        RowComputer rows(*part, *context_.open.reader, 1, plan_.cores, count_piece_bytes);
        const std::vector<std::int64_t> counts =
            rows.count(part_of_finished(plan_.decomposition, context_.ranks));
        for (std::size_t i = 0; i < counts.size(); ++i) {
            times.counts[i] += counts[i];
        }
    }

    const StreamJob& job_;
    const StreamPlan& plan_;
    RunContext context_;
    std::int64_t to_do_; ///< rows of the rank
    BorderRows border_;
};

class StreamJobs final : public EngineOf<StreamJob, StreamPlan> {
  public:
    /// Each rank cuts its own slab: one with less memory takes smaller chunks.
    bool plans_by_own_memory() const override { return true; }

    ComputeRows row_computation(const Job& job, const RowSources& from) const override {
        auto rows =
            std::make_shared<RowComputer>(job_of(job), from.input, from.alignment, from.threads);
        return [rows](RowRange range, const TakeRows& take) { rows->compute(range, take); };
    }

  protected:
    StreamPlan plan_job(const StreamJob& job, const PlanRequest& request) const override {
        return make_plan(job, request);
    }
    std::unique_ptr<EngineRun> start_job(const StreamJob& job, const StreamPlan& plan,
                                         const RunContext& context) const override {
        return std::make_unique<StreamRun>(job, plan, context);
    }
};

} // namespace

const Engine& engine() {
    static const StreamJobs engine;
    return engine;
}

} // namespace runner::stream
