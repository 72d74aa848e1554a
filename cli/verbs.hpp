// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "cli/command_line.hpp"

#include <span>
#include <string>
#include <string_view>

namespace runner::cli {

/// A verb of the command line.
struct Verb {
    std::string_view name;
    std::string_view arguments; ///< "JOB.toml [options]"
    std::string_view summary;   ///< half a line
    /// Reads what follows the verb; `--help` gives a PrintCommand. @throws Error (usage).
    Command (*parse)(const Verb& verb, std::span<const std::string> arguments);
};

/// Every verb of this version.
std::span<const Verb> verbs();

/// What a verb takes, as its own parser declares it.
VerbUsage usage_of(const Verb& verb);

/// What an exit code means, half a line.
struct ExitMeaning {
    ExitCode code;
    std::string_view meaning;
};
std::span<const ExitMeaning> exit_meanings();

} // namespace runner::cli
