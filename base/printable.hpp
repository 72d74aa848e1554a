// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

/// The text with every control character as \xNN, for names and texts out of files: a terminal
/// obeys such characters, and a line break would look like a message of its own.
std::string printable(std::string_view text);

} // namespace runner
