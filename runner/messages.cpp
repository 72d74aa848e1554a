// SPDX-License-Identifier: BSD-3-Clause
#include "runner/messages.hpp"

#include "base/text.hpp"

#include <cstdio>

namespace runner {

void say(const std::string& text) { (void)std::fputs(printable_lines(text).c_str(), stderr); }

void tell_error(const std::string& text) { say("runner: error: " + text + "\n"); }

void tell_warning(const std::string& text) { say("runner: warning: " + text + "\n"); }

} // namespace runner
