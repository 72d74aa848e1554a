// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/command_line.hpp"

#include <string>
#include <vector>

namespace runner::cli {

/// `runner plan`: what a run with these limits would do, as text or JSON, made without a GPU,
/// without MPI, and without writing anything.
/// @throws Error (usage) when the job cannot fit, with the smallest change that would make it fit.
struct PlanReport {
    std::string text;
    std::vector<std::string> notes; ///< of the input: DatasetInfo's
};
PlanReport plan_report(const PlanCommand& command);

/// For `runner explain`: of each step of a pipeline what it takes and makes, or that its input
/// cannot be read; nothing for a job of one kind.
std::vector<std::string> step_comments(const JobFile& file);

/// The same for a job of one kind: what its input says of keys that are left out. Nothing where
/// the input cannot be read.
std::vector<std::string> found_comments(const JobFile& file);

} // namespace runner::cli
