// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/evolve_plan.hpp"
#include "runner/plan/permute_plan.hpp"
#include "runner/plan/plan.hpp"

#include <variant>

namespace runner {

/// The plan of a job; its type says which engine runs it. All have backend, lanes, io_threads, need
/// and the limits.
using JobPlan = std::variant<Plan, EvolvePlan, PermutePlan>;

int ranks_of(const JobPlan& plan);

/// The rows of a rank: of the output's, of the state, or those from the rank's first box to its
/// last.
RowRange rows_of(const JobPlan& plan, int rank);

/// Rows that pass through the device at once.
std::int64_t chunk_rows_of(const JobPlan& plan);

inline int io_threads_of(const JobPlan& plan) {
    return std::visit([](const auto& some) { return some.io_threads; }, plan);
}

inline Backend backend_of(const JobPlan& plan) {
    return std::visit([](const auto& some) { return some.backend; }, plan);
}

} // namespace runner
