// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"
#include "runner/prepare/plan_request.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/trial/prediction.hpp"

#include <cstdint>
#include <vector>

namespace runner::trial {

/// Where a job is planned to run, on one rank.
struct PlannedPlace {
    Backend backend = Backend::cpu;
    RankLimits limits;
};

/// The CPU of this host, with all cores and memory that this process may use.
PlannedPlace this_host();

/// The work and the memory of a job, by its plan.
struct PlannedWork {
    std::vector<PassWork> passes;
    std::int64_t host_bytes = 0; ///< of the pass that needs the most
    std::int64_t device_bytes = 0;
};

/// Plans a job whose input exists. @throws Error (usage) if it does not fit; (input).
PlannedWork planned_work(JobFile file, FileAccess& files, const PlannedPlace& place);

} // namespace runner::trial
