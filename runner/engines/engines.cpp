// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"
#include "runner/engines/engine.hpp"

#include "base/error.hpp"
#include "base/rounding.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/row_order.hpp"
#include "runner/engines/evolve/evolve_run.hpp"
#include "runner/engines/permute/permute_run.hpp"
#include "runner/engines/stream/stream_run.hpp"
#include "runner/plan/stream_plan.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace runner {

std::span<const Engine* const> engines() {
    static const std::array table = {
        &stream::engine(),
        &evolve::engine(),
        &permute::engine(),
    };
    return table;
}

std::vector<RowRuns> Engine::reads(const JobPlan& plan, int rank, const ArrayInfo& input) const {
    const RowRange rows = plan.rows_of_rank(rank);
    return {{rows.first, rows.count(), 1, 0, 0, row_elements(input)}};
}

const Engine& engine_of(const Job& job) {
    const auto all = engines();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Engine* engine) { return engine->runs(job); });
    if (found == all.end()) {
        throw Error(ExitCode::defect, {"no engine runs this job", "", "engines() lists none", ""});
    }
    return **found;
}

std::vector<RowRuns> rows_read(const Job& job, const JobPlan& plan, int rank,
                               const ArrayInfo& input) {
    const std::optional<RowOrder> order = job.row_order();
    if (!order) {
        return engine_of(job).reads(plan, rank, input);
    }
    const auto [first, last] = plan.rows_of_rank(rank);
    if (plan.kept_lines > 0) {
        const std::int64_t lines = plan.kept_lines;
        std::vector<RowRuns> blocks;
        for (std::int64_t line = first / order->first / lines * lines; line * order->first < last;
             line += lines) {
            blocks.push_back({line, std::min(lines, order->second - line), order->first,
                              order->second, 0, row_elements(input)});
        }
        return blocks;
    }
    // As many rows as come in at once: a GPU gets a chunk in portions.
    const auto& stream = dynamic_cast<const StreamPlan&>(plan);
    const std::int64_t portion =
        stream.most_in_portion() / std::max<std::int64_t>(1, stream.shape.in_row_bytes);
    const std::int64_t step = std::clamp<std::int64_t>(portion, 1, plan.chunk_rows());
    std::vector<RowRuns> reads;
    for (std::int64_t row = first; row < last; row += step) {
        const std::int64_t rows = std::min(step, last - row);
        reads.push_back({row % order->first * order->second + row / order->first,
                         ceil_divide(rows, order->first), std::min(rows, order->first),
                         order->second, 0, row_elements(input)});
    }
    return reads;
}

PlanPtr plan_job(const PreparedJob& prepared, Backend backend, int ranks, const RankLimits& limits,
                 const BegunOutput& begun) {
    try {
        return engine_of(*prepared.job)
            .plan(*prepared.job, plan_request(prepared, backend, ranks, limits, begun));
    } catch (const Error& error) {
        if (error.code() != ExitCode::usage || prepared.file.path.empty()) {
            throw;
        }
        ErrorText text = error.text();
        text.where = prepared.file.path + (text.where.empty() ? "" : ", " + text.where);
        throw Error(error.code(), std::move(text));
    }
}

namespace {

/// How far a rank came.
struct RowsDone {
    std::int64_t rows = 0;
    bool all = false;
    std::string stop_reason;

    static auto members(auto& self) { return std::tie(self.rows, self.all, self.stop_reason); }
};

} // namespace

std::optional<Stopped> agree_on_rows(std::int64_t to_do, std::int64_t before, std::int64_t total,
                                     const RunContext& context) {
    const std::int64_t done = context.open.progress.rows_done;
    bool unfinished = false;
    std::string reason;
    std::int64_t rows = before;
    for (const RowsDone& each :
         context.ranks.gather(RowsDone{done, done == to_do, context.stop.reason()})) {
        rows += each.rows;
        unfinished = unfinished || !each.all;
        if (reason.empty() || reason == Stop::other_rank) {
            reason = each.stop_reason;
        }
    }
    if (!unfinished) {
        return std::nullopt;
    }
    return Stopped{reason, fmt::format("{} of {} rows of ", rows, total)};
}

} // namespace runner
