// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/claim.hpp"
#include "runner/prepare.hpp"
#include "runner/report.hpp"

namespace runner {

/// Rank 0, once every rank has handed over its last row: makes sure that all rows are there and the
/// input is what it was, stores what the output says of itself, and gives it its name.
/// @throws Error (output), and (input) where the input has changed.
void complete_output(const PreparedJob& prepared, const Beginning& beginning,
                     const RunReport& report);

} // namespace runner
