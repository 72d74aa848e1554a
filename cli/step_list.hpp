// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {

/// A step as a command line has it.
struct ListedStep {
    std::string kind;
    std::vector<std::pair<std::string, std::string>> keys; ///< and what is given for them
};

/// Reads "correct, median size=3,3, rescale dtype=uint16": steps with commas between them, each a
/// kind and its keys, with blanks or commas between them. Another comma is of a value. @throws
/// std::invalid_argument saying what is wrong.
std::vector<ListedStep> parse_steps_text(std::string_view text);

} // namespace runner
