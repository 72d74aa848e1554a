// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/verbs.hpp"

#include <span>
#include <string>

namespace runner {

/// The command lines of the verbs that look at data or make other files of them: Verb::parse.
Command parse_inspect(const Verb& verb, std::span<const std::string> arguments);
Command parse_compare(const Verb& verb, std::span<const std::string> arguments);
Command parse_render(const Verb& verb, std::span<const std::string> arguments);
Command parse_convert(const Verb& verb, std::span<const std::string> arguments);

} // namespace runner
