// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace runner {

/// runner/report_page.css and runner/report_page.js, as they were when the program was built.
extern const std::string_view page_style;
extern const std::string_view page_script;

} // namespace runner
