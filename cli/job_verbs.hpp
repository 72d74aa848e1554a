// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verbs.hpp"

#include <span>
#include <string>

namespace runner::cli {

/// The command lines of the verbs that check and mend results: Verb::parse.
Command parse_verify(const Verb& verb, std::span<const std::string> arguments);
Command parse_repair(const Verb& verb, std::span<const std::string> arguments);
Command parse_certify(const Verb& verb, std::span<const std::string> arguments);

/// The command line of `runner submit`: Verb::parse.
Command parse_submit(const Verb& verb, std::span<const std::string> arguments);

/// The command line of `runner try`: Verb::parse.
Command parse_try(const Verb& verb, std::span<const std::string> arguments);

} // namespace runner::cli
