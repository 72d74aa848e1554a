// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verbs.hpp"

#include <span>
#include <string>

namespace runner {

/// The command line of `runner try`: Verb::parse.
Command parse_try(const Verb& verb, std::span<const std::string> arguments);

} // namespace runner
