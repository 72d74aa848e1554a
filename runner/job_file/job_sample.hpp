// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "runner/job_file/job_file.hpp"

#include <string>
#include <vector>

namespace runner {

/// A commented job file of that kind to start from: `runner init KIND`. It parses as it is.
std::string job_sample(const Kind& kind);

/// The job as a job file with every default filled in: `runner explain JOB.toml`. It parses back to
/// the same job; what a run finds out by itself (output.dtype, memory sizes) stands as a comment.
/// `steps`: a comment for each step of a pipeline; may be empty.
std::string explain_job(const JobFile& job, const std::vector<std::string>& steps = {});

/// What of explain_job() decides the result: the kind, the input, output.dataset, output.dtype and
/// the kind's own table. How it is run and stored, and what the job is called, are left out.
std::string explain_result(const JobFile& job);

} // namespace runner
