// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/evolve_run.hpp"

#include "base/format.hpp"
#include "io/output/journal.hpp"
#include "jobs/evolve_job.hpp"
#include "runner/engines/evolve/evolve_engine.hpp"
#include "runner/engines/evolve/snapshot_rows.hpp"
#include "runner/plan/evolve_plan.hpp"
#include "runner/ranks/host_memory.hpp"

#include <algorithm>
#include <memory>

namespace runner::evolve {
namespace {

class EvolveRun final : public EngineRun {
  public:
    EvolveRun(const EvolveJob& job, const EvolvePlan& plan, const RunContext& context)
        : job_(job), plan_(plan), context_(context) {
        const std::uint64_t first = plan.shape.snapshots.first;
        before_ = static_cast<std::int64_t>(context.beginning.checkpoint.value_or(first) - first);
    }

    RunTimes run(const RunOutlets& outlets) override {
        const PreparedJob& prepared = context_.prepared;
        OpenRun& open = context_.open;
        const Evolution evolution{plan_,
                                  job_,
                                  context_.ranks,
                                  *open.reader,
                                  *open.writer,
                                  open.commits.get(),
                                  open.progress,
                                  outlets.trace,
                                  context_.stop,
                                  prepared.file.run.halo_exchange,
                                  journal_folder(prepared.file.output.file),
                                  context_.beginning.checkpoint,
                                  prepared.file.run.commit_seconds,
                                  context_.beginning.sync,
                                  outlets.say};
        return run_evolution(evolution, outlets.make_queue);
    }

    ProgressSnapshot snapshot() const override {
        ProgressSnapshot now;
        now.rows_done = static_cast<double>(
            std::max<std::int64_t>(0, context_.open.progress.rows_done - before_));
        now.rows_total = plan_.shape.snapshots.generations - before_;
        now.amount_done = now.rows_done * static_cast<double>(plan_.shape.cells);
        now.unit = "cells";
        return now;
    }

    std::optional<Stopped> agree_on_stop() const override {
        std::string reason;
        for (const std::string& text : context_.ranks.gather(context_.stop.reason())) {
            if (reason.empty() || reason == Stop::other_rank) {
                reason = text;
            }
        }
        // All ranks stop at one generation.
        const std::int64_t done = context_.open.progress.rows_done;
        const std::int64_t all = plan_.shape.snapshots.generations;
        if (done == all) {
            return std::nullopt;
        }
        return Stopped{reason, fmt::format("{} of {} generations of ", done, all)};
    }

  private:
    const EvolveJob& job_;
    const EvolvePlan& plan_;
    RunContext context_;
    std::int64_t before_ = 0; ///< generations that earlier runs have computed
};

class EvolveJobs final : public EngineOf<EvolveJob, EvolvePlan> {
  public:
    ComputeRows row_computation(const Job& job, const RowSources& from) const override {
        // A part of what is free; the rest is for what reads and writes.
        const std::int64_t most_bytes = available_host_memory().bytes / 2;
        auto rows = std::make_shared<SnapshotRows>(job_of(job), from, most_bytes);
        return [rows](RowRange range, const TakeRows& take) { rows->compute(range, take); };
    }

  protected:
    EvolvePlan plan_job(const EvolveJob& job, const PlanRequest& request) const override {
        return make_evolve_plan(job, request);
    }
    std::unique_ptr<EngineRun> start_job(const EvolveJob& job, const EvolvePlan& plan,
                                         const RunContext& context) const override {
        return std::make_unique<EvolveRun>(job, plan, context);
    }
};

} // namespace

const Engine& engine() {
    static const EvolveJobs engine;
    return engine;
}

} // namespace runner::evolve
