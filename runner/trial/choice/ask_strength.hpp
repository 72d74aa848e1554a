// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/trial/choice/bisection.hpp"

#include <optional>
#include <string>

namespace runner::trial {

/// @throws Error (usage) if standard input and error are not a terminal, where a person can be
/// asked.
void require_person();

/// Asks on the terminal what a picture looks like, until there is an answer. Nothing if the person
/// ends the search: by q, the end of the input or a signal.
std::optional<Strength> ask_strength(const std::string& picture);

} // namespace runner::trial
