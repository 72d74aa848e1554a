// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"

#include <optional>
#include <span>
#include <string>

namespace runner {

/// Checks that nothing a run writes lies where it reads or writes something else: the output with
/// what is kept beside it until it is complete, reports and the trace, against the job file, the
/// input, the kind's own datasets and one another. @throws Error (usage) naming both.
void check_file_names(const JobFile& job, std::span<const std::string> reports,
                      const std::optional<std::string>& trace);

} // namespace runner
