// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/pipeline/pipeline_parameters.hpp"
#include "runner/plan/job_plan.hpp"
#include "runner/prepare/prepare.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace runner {

/// What one rank may take, found on the machine or given on the command line.
struct RankLimits {
    int cores = 1;
    std::int64_t host_memory = 0;   ///< available to the rank
    std::int64_t device_memory = 0; ///< free for the rank on its GPU
};

/// What is settled of an output that is begun.
struct BegunOutput {
    RowSet done;                     ///< rows that an earlier run has finished
    std::optional<PartLayout> parts; ///< nothing: planned_parts()
};

/// What a prepared job is planned from: limits as the job file sets them within what is available.
/// `prepared` outlives the request.
PlanRequest plan_request(const PreparedJob& prepared, Backend backend, int ranks,
                         const RankLimits& limits, const BegunOutput& begun = {});

/// The steps of a pipeline's pass with what each takes by its plan, without what is carried where
/// the plan carries nothing; a step that is the order of the pass's rows takes nothing.
std::vector<StepFacts> with_memory(const PreparedJob& prepared, const JobPlan& plan,
                                   std::vector<StepFacts> steps);

/// The parts of the output as a run on so many ranks, each with so many cores, chooses them.
PartLayout planned_parts(const PreparedJob& prepared, int ranks, int cores);

/// The parts that output.parts = "auto" makes of so many bytes, unless rows or chunks allow fewer:
/// as many as the ranks' cores can write at once, and none for what is written in no time.
std::int64_t automatic_parts(std::int64_t bytes, int ranks, int cores);

} // namespace runner
