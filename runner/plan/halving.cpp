// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/halving.hpp"

#include "base/counted.hpp"

#include <algorithm>

namespace runner {

std::optional<Plan> halved(const StreamJob& job, const Plan& plan) {
    const Decomposition& d = plan.decomposition;
    if (d.chunk_rows > d.alignment) {
        return with_chunks(job, plan,
                           std::max(d.alignment, d.chunk_rows / 2 / d.alignment * d.alignment),
                           plan.lanes);
    }
    if (plan.lanes > 1) {
        return with_chunks(job, plan, d.chunk_rows, plan.lanes - 1);
    }
    return std::nullopt;
}

Plan step_down(const StreamJob& job, const Plan& plan, const OutOfMemory& failure,
               std::vector<Halving>& halvings) {
    const std::optional<Plan> smaller = halved(job, plan);
    if (!smaller) {
        throw failure;
    }
    halvings.push_back(
        {format_error({failure.text().what, failure.text().where, failure.text().why, ""}),
         smaller->decomposition.chunk_rows, smaller->lanes});
    return *smaller;
}

std::string halving_text(int rank, const std::vector<Halving>& halvings) {
    const Halving& last = halvings.back();
    return "rank " + std::to_string(rank) + ": " + halvings.front().reason +
           "; continues with chunks of " + counted(last.chunk_rows, "row") + " in " +
           counted(last.lanes, "lane") + "\n";
}

} // namespace runner
