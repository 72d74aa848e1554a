// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "runner/report/report.hpp"

#include <string>

namespace runner {

/// A rank's part of the report as JSON, with its timeline where one was kept.
Json rank_value(const RankReport& report);

/// JSON as text for people too: what fits on a line stands on one. Ends with a line feed. Bytes
/// that are no UTF-8 are replaced.
std::string json_text(const Json& value);

} // namespace runner
