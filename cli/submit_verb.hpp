// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verbs.hpp"

#include <span>
#include <string>

namespace runner {

/// The command line of `runner submit`: Verb::parse.
Command parse_submit(const Verb& verb, std::span<const std::string> arguments);

} // namespace runner
