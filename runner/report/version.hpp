// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace runner {

/// "0.1.0".
std::string version();

/// What --version prints: the version and the build facts, a line each.
std::string version_text();

/// What this program was built from and with, as name and value: for --version and the report.
std::vector<std::pair<std::string, std::string>> build_facts();

} // namespace runner
