// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "runner/report/report.hpp"

#include <string>
#include <vector>

namespace runner {

/// The facts of a plan, its memory and what each rank has to do.
Json plan_value(const JobPlan& plan);

/// What stages did, by their names.
Json stages_value(const std::array<StageTimes, stage_count>& stages);

/// A timeline, its times to a microsecond.
Json timeline_value(const std::vector<Bar>& bars, double merged_below_seconds);

/// A rank's share of the report as JSON, with its timeline where one was kept.
Json rank_value(const RankReport& report);

/// What the kernels did on each GPU of the ranks, the longest of a GPU first. Shares of the limit
/// where its rates are known.
Json kernels_value(const std::vector<RankReport>& ranks);

/// The rates of each GPU of the ranks, or why they are not known.
Json rates_value(const std::vector<RankReport>& ranks);

/// JSON as text for people too: what fits on a line stands on one. Ends with a line feed. Bytes
/// that are no UTF-8 are replaced.
std::string json_text(const Json& value);

} // namespace runner
