// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/table.hpp"

#include <span>
#include <string>

namespace runner {

/// Reports what is wrong with a file that a person wrote, a line each, in the order of the file,
/// the settings' after it: "file:line:column: text", or "--set table.key=value: text" for what a
/// setting brought. At most 20 lines, then "and N more". `what`: "the job file is
/// wrong". `called`: what to call each setting in place of that, or ""; none, or as many. @throws
/// Error (usage), always.
[[noreturn]] void refuse_toml(const std::string& what, const std::string& path,
                              const Diagnostics& diagnostics,
                              std::span<const std::string> settings = {},
                              std::span<const std::string> called = {});

} // namespace runner
