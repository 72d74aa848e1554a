// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/trial/prediction.hpp"

#include <string>
#include <vector>

namespace runner {

/// The stage that takes longest, of the pass that does: "compute", "write in pass 2".
std::string bound_text(const Prediction& prediction);

/// The parts of the predicted time, for people: a line for each pass, and one for start and end.
std::vector<std::string> prediction_lines(const Prediction& prediction);

} // namespace runner
