// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/job_plan.hpp"
#include "runner/plan/prepare.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/mpi.hpp"

namespace runner {

/// The plan of this rank. In a stream each rank cuts its own slab, so that one with less memory
/// takes smaller chunks and the others do not; ranks of the other engines meet on their way, and
/// all plan for the least memory. `done`: rows that an earlier run has finished. Collective.
/// @throws AgreedError (usage) when the job does not fit a rank, which it names where ranks are on
/// several hosts.
JobPlan plan_rank(const PreparedJob& prepared, const RankBinding& binding, const Ranks& ranks,
                  const RowSet& done = {});

} // namespace runner
