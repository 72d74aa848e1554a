// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/job_plan.hpp"

namespace runner {
namespace {

struct RanksOf {
    int operator()(const Plan& plan) const { return plan.decomposition.ranks; }
    int operator()(const EvolvePlan& plan) const { return plan.decomposition.ranks; }
    int operator()(const PermutePlan& plan) const { return plan.ranks; }
};

struct RowsOf {
    int rank;

    RowRange operator()(const Plan& plan) const { return plan.decomposition.slab(rank); }
    RowRange operator()(const EvolvePlan& plan) const { return plan.decomposition.slab(rank); }
    RowRange operator()(const PermutePlan& plan) const {
        const std::vector<std::int64_t> boxes = plan.boxes(rank);
        if (boxes.empty()) {
            return {};
        }
        return {plan.grid.rows(plan.grid.box(boxes.front())).front().first,
                plan.grid.rows(plan.grid.box(boxes.back())).back().last};
    }
};

} // namespace

int ranks_of(const JobPlan& plan) { return std::visit(RanksOf{}, plan); }

RowRange rows_of(const JobPlan& plan, int rank) { return std::visit(RowsOf{rank}, plan); }

std::int64_t chunk_rows_of(const JobPlan& plan) {
    return std::visit([](const auto& some) { return some.chunk_rows(); }, plan);
}

} // namespace runner
