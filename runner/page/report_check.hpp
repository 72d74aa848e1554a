// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <string>

namespace runner {

/// The error (input) of a text that is no report.
Error no_report(const std::string& name, const std::string& why);

/// The same of a text that is no JSON, or JSON that lacks what a report has.
Error no_report_in(const std::string& name, const std::string& text);

/// Checks that a text is a report with all fields that the page's script reads, each of its type.
/// `name`: of the report, for errors. @throws Error (input) that names the first wrong field.
void check_report(const std::string& name, const std::string& report_json);

} // namespace runner
