// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

/// What a person writes for a value on a command line, as TOML: a value of TOML as it is, `3,3` as
/// `[3, 3]`, and other text as a string, so that it needs no quotes within the shell's. Text that
/// TOML could mean something else by is not changed: quotes, brackets and braces at its start,
/// comments and control characters.
std::string setting_value(std::string_view given);

} // namespace runner
