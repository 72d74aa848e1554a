// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/trial/trial_page.hpp"

#include <string>

namespace runner::trial {

/// Writes the page and the first slice of each picture into the folder, which exists. Returns what
/// `runner try` prints, lines. @throws Error (output).
std::string write_trial(const TrialPage& page, const std::string& folder);

} // namespace runner::trial
