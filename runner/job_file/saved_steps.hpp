// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/table.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/job_file/job_sections.hpp"

#include <string>

namespace runner {

/// The output that a step of `job` saves in `file`, for the job that makes it alone: contiguous, of
/// the type that the step makes, in a dataset of the name that the job's output has, or the input's
/// where the job's output is several.
JobFile::Output saved_output(const JobFile& job, const std::string& file);

/// Reports what is wrong with the files that the job's steps save. `names`: in a batch they are
/// patterns, as batch.output is.
void check_saves(TableReader& top, const JobFile& job, FileNames names);

/// Puts the job's own names into saves that are patterns: of one dataset of a batch.
void expand_saves(JobFile& job);

/// The name that a step's pattern gives for one input of a batch.
std::string saved_name(const JobFile& job, const std::string& pattern, const std::string& input);

} // namespace runner
