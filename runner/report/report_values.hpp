// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/report/report.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace runner {

/// A rank's part of the report as JSON, with its timeline where one was kept.
nlohmann::ordered_json rank_value(const RankReport& report);

/// JSON as text for people too: what fits on a line stands on one. Ends with a line feed. Bytes
/// that are no UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& value);

} // namespace runner
