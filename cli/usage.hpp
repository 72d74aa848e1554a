// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace runner {

/// An option of a verb, or an argument, as its help shows it.
struct VerbOption {
    std::vector<std::string> names; ///< "-n", "--ranks"; of an argument one, "JOB"
    std::string type;               ///< what stands for its value; "": it takes none
    std::string meaning;
};

/// All that a verb takes.
struct VerbUsage {
    std::vector<VerbOption> arguments;
    std::vector<VerbOption> options;
    std::string example; ///< a line or several
};

} // namespace runner
