// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "cli/command_line.hpp"

namespace runner::cli {

/// Does what any command but a run asks for, in one process; results go to standard output.
/// Returns the exit code. @throws Error.
ExitCode dispatch(const Command& command);

} // namespace runner::cli
