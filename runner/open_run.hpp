// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/engines/engine.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/mpi.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/trace.hpp"

#include <memory>
#include <string>
#include <vector>

namespace runner {

/// Opens input, output and journal, and starts the engine's part of the run; what ranks need of one
/// another is exchanged. Collective.
std::unique_ptr<EngineRun> open_run(const JobPlan& plan, const RunContext& context);

/// Whether the first rank shows progress on standard error.
enum class ShowProgress { no, yes };

/// Does the rank's share. An error, which only this rank knows of, names the rank, its host and its
/// GPU; what was written before it is committed. `trace` may be null.
RunTimes run_engine(EngineRun& engine, const RunContext& context, const RankBinding& binding,
                    ShowProgress show, Trace* trace);

/// The error with "; rank 1 on node7, GPU GPU-…" added to where it happened.
Error with_rank(const Error& error, const RankBinding& binding, const Ranks& ranks);

/// What asks this job to stop: STOP beside the output, and last the ranks' own file; of a pass also
/// STOP beside the output of the whole job.
std::vector<std::string> stop_files(const PreparedJob& prepared);

} // namespace runner
