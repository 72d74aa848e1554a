// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/images/levels_ahead.hpp"
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

/// The output with its axes, before its rows are made, and the files that its coarser levels wait
/// in. Collective. @throws AgreedError (output).
OutputDataset begin_levels(const PreparedJob& prepared, const PartLayout& parts,
                           const RunPlace& place);

/// Puts the output of a job together when all its rows are written, and makes what `ahead`, which
/// may be null, has not made of its coarser levels: each rank its `share`. Collective.
/// @throws AgreedError (output).
Assembled assemble_on_all(const OutputDataset& output, const LevelsAhead* ahead,
                          const AssemblyShare& share, const RunPlace& place);

} // namespace runner
