// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/cost/reading_cost.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/prepare/prepare.hpp"

namespace runner {

/// What a run by this plan takes from the input's files, and unpacks.
ReadingCost cost_of(const PreparedJob& prepared, const JobPlan& plan);

} // namespace runner
