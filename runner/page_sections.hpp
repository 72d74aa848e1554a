// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace runner {

/// What stands under a key, as HTML; "" where there is nothing, a size 0 B.
std::string text_at(const nlohmann::ordered_json& value, const char* key);
std::string size_at(const nlohmann::ordered_json& value, const char* key);

/// A part of a page with its heading; nothing where `body`, which is HTML, is empty.
std::string section(const std::string& title, const std::string& body);

/// Parts of a report's page: memory planned and taken, ranks and their devices, warnings, and all
/// that repeats the run. @throws nlohmann::json::exception where it is no report.
std::string memory_section(const nlohmann::ordered_json& report);
std::string ranks_section(const nlohmann::ordered_json& report);
std::string warnings_section(const nlohmann::ordered_json& report);
std::string repeat_section(const nlohmann::ordered_json& report);

} // namespace runner
