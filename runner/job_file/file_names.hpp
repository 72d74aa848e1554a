// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace runner {

/// Steps that a pipeline may have: more than any chain of operations has.
inline constexpr std::size_t most_steps = 64;

/// The file beside an output that stops its run.
std::string stop_beside(const std::string& output);

/// What pass `index` of a job, but the last, stores beside the job's output where no step saves it.
std::string intermediate_file(const std::string& output, std::size_t index);

/// Checks that nothing a run writes lies where it reads or writes something else: the output and
/// what steps save, with what is kept beside them until they are complete, reports and the trace,
/// against the job file, the input, the kind's own datasets and one another. @throws Error (usage)
/// naming both.
void check_file_names(const JobFile& job, std::span<const std::string> reports,
                      const std::optional<std::string>& trace);

/// Whether two names lead to one file, through any links; a file that is not there yet is
/// identified by its path.
bool is_same_file(const std::string& a, const std::string& b);

} // namespace runner
