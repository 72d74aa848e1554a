// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/job_plan.hpp"
#include "runner/prepare/plan_request.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/mpi.hpp"

namespace runner {

/// The plan of this rank: by its own memory where the engine allows that, so that a rank with less
/// takes smaller chunks and the others do not; else by the least memory of all ranks. Collective.
/// @throws AgreedError (usage) when the job does not fit a rank, which it names where ranks are on
/// several hosts.
PlanPtr plan_rank(const PreparedJob& prepared, const RankBinding& binding, const Ranks& ranks,
                  const BegunOutput& begun = {});

} // namespace runner
