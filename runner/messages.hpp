// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// Prints lines on standard error, without control characters.
void say(const std::string& text);

/// One message on standard error: "runner: error: TEXT".
void tell_error(const std::string& text);

/// The same for a warning: "runner: warning: TEXT".
void tell_warning(const std::string& text);

} // namespace runner
