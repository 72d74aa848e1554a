// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/command_line.hpp"

#include <string>
#include <vector>

namespace runner {

/// `runner plan`: what a run with these limits would do, as text or JSON, made without a GPU,
/// without MPI, and without writing anything.
/// @throws Error (usage) when the job cannot fit, with the smallest change that would make it fit.
struct PlanReport {
    std::string text;
    std::vector<std::string> notes; ///< of the input: DatasetInfo's
};
PlanReport plan_report(const PlanCommand& command);

} // namespace runner
