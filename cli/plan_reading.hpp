// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/cost/reading_cost.hpp"
#include "runner/engines/engine.hpp"
#include "runner/engines/planned_reading.hpp"
#include "runner/prepare/prepare.hpp"

#include <string>
#include <vector>

namespace runner::cli {

/// What would make reading cheaper: a line for each.
std::vector<std::string> advice_on(const PreparedJob& prepared, const JobPlan& plan,
                                   const ReadingCost& cost);

/// The lines of `runner plan` about reading.
std::string reading_text(const ReadingCost& cost, const std::vector<std::string>& advice);

} // namespace runner::cli
