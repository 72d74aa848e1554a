// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"

namespace runner {

/// After every rank's finish(): stores the compressed chunks of all shards in the file. Nothing to
/// do for other layouts. Run by one rank. @throws Error (output) naming a chunk that is in none.
void assemble_output(const OutputDataset& output);

} // namespace runner
