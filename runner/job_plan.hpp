// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/evolve_plan.hpp"
#include "runner/plan.hpp"

#include <variant>

namespace runner {

/// The plan of a job; its type says which engine runs it. All have backend, decomposition, lanes,
/// io_threads, need and the limits.
using JobPlan = std::variant<Plan, EvolvePlan>;

inline const Decomposition& decomposition_of(const JobPlan& plan) {
    return std::visit([](const auto& some) -> const Decomposition& { return some.decomposition; },
                      plan);
}

inline Backend backend_of(const JobPlan& plan) {
    return std::visit([](const auto& some) { return some.backend; }, plan);
}

} // namespace runner
