// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/output/assemble_output.hpp"
#include "io/rows/rows.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/run_command.hpp"

namespace runner {

/// Puts the output of a job together when all its rows are written, and makes its coarser levels:
/// each rank its `share`. Returns the extremes of the channels that the output states, on every
/// rank. Collective. @throws AgreedError (output).
Extremes assemble_on_all(const PreparedJob& prepared, const PartLayout& parts,
                         const AssemblyShare& share, const RunPlace& place);

} // namespace runner
