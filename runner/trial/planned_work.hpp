// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/trial/prediction.hpp"

#include <cstdint>
#include <vector>

namespace runner {

/// Where a job is planned to run, on one rank.
struct PlannedPlace {
    bool on_gpu = false;
    std::int64_t device_limit = 0; ///< bytes that it may take there
};

/// What a job's plan says it will do and need.
struct PlannedWork {
    std::vector<PassWork> passes;
    std::int64_t host_bytes = 0; ///< of the pass that needs most
    std::int64_t device_bytes = 0;
};

/// Of a job whose input is there. @throws Error (usage) where it does not fit; (input).
PlannedWork planned_work(JobFile file, FileAccess& files, const PlannedPlace& place);

} // namespace runner
