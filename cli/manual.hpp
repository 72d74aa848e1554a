// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner::cli {

/// The manual page runner(1) in roff, of the verbs' own usage.
std::string manual_page();

/// A script that lets a shell complete verbs, options and what they take.
std::string bash_completion();
std::string zsh_completion();

} // namespace runner::cli
