// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/permute/permute_run.hpp"

#include "jobs/permute_job.hpp"
#include "runner/engines/permute/permute_engine.hpp"
#include "runner/engines/permute/permuted_rows.hpp"
#include "runner/plan/permute_plan.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace runner::permute {
namespace {

class PermuteRun final : public EngineRun {
  public:
    PermuteRun(const PermuteJob& job, const PermutePlan& plan, const RunContext& context)
        : job_(job), plan_(plan), context_(context),
          to_do_(plan.rows_to_do(plan.boxes(context.ranks.rank()))) {}

    RunTimes run(const RunOutlets& outlets) override {
        OpenRun& open = context_.open;
        return run_permutation({plan_, job_, context_.ranks.rank(), *open.reader, *open.writer,
                                open.progress, outlets.trace, open.commits.get(), &context_.stop,
                                outlets.say},
                               outlets.make_queue);
    }

    ProgressSnapshot snapshot() const override {
        ProgressSnapshot now;
        now.rows_done = static_cast<double>(context_.open.progress.rows_done);
        now.rows_total = to_do_;
        now.amount_done = now.rows_done * static_cast<double>(2 * plan_.row_bytes() * plan_.ranks);
        return now;
    }

    std::optional<Stopped> agree_on_stop() const override {
        return agree_on_rows(to_do_, count_rows(plan_.done), plan_.total_rows(), context_);
    }

  private:
    const PermuteJob& job_;
    const PermutePlan& plan_;
    RunContext context_;
    std::int64_t to_do_; ///< rows of the rank
};

class PermuteJobs final : public EngineOf<PermuteJob, PermutePlan> {
  public:
    std::vector<RowRuns> reads(const JobPlan& plan, int rank,
                               const ArrayInfo& /*input*/) const override {
        const auto& own = dynamic_cast<const PermutePlan&>(plan);
        std::vector<RowRuns> all;
        for (const std::int64_t box : own.boxes(rank)) {
            for (std::int64_t piece = 0; piece < own.pieces(); ++piece) {
                const std::vector<RowRuns> runs = input_runs(own.grid, own.piece(box, piece));
                all.insert(all.end(), runs.begin(), runs.end());
            }
        }
        return all;
    }

    ComputeRows row_computation(const Job& job, const RowSources& from) const override {
        auto rows =
            std::make_shared<PermutedRows>(job_of(job), from.input, from.alignment, from.threads);
        return [rows](RowRange range, const TakeRows& take) { rows->compute(range, take); };
    }

  protected:
    PermutePlan plan_job(const PermuteJob& job, const PlanRequest& request) const override {
        return make_permute_plan(job, request);
    }
    std::unique_ptr<EngineRun> start_job(const PermuteJob& job, const PermutePlan& plan,
                                         const RunContext& context) const override {
        return std::make_unique<PermuteRun>(job, plan, context);
    }
};

} // namespace

const Engine& engine() {
    static const PermuteJobs engine;
    return engine;
}

} // namespace runner::permute
