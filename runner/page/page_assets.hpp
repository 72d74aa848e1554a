// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace runner {

/// runner/page/report_page.html with its style sheet and its scripts, as they were when the program
/// was built.
extern const std::string_view page_shell;

} // namespace runner
