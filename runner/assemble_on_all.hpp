// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/output/assemble_output.hpp"
#include "io/rows/rows.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/report/report.hpp"
#include "runner/run_command.hpp"

#include <vector>

namespace runner {

/// What is known of an output that is put together.
struct Assembled {
    Extremes extremes;               ///< of the channels that it states; on every rank
    std::vector<LevelReport> levels; ///< of a Zarr store: its arrays; on the first rank
};

/// Puts the output of a job together when all its rows are written, and makes its coarser levels:
/// each rank its `share`. Collective. @throws AgreedError (output).
Assembled assemble_on_all(const PreparedJob& prepared, const PartLayout& parts,
                          const AssemblyShare& share, const RunPlace& place);

} // namespace runner
