// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"

#include <vector>

namespace runner {

/// How many runs of rows are read again before a run resumes from them.
enum class RowCheck {
    few, ///< the first, the last and some between; all when one of these is wrong
    all,
};

/// Those of the journal's rows whose bytes are in the output under way, after restore_output():
/// the others are to be computed again. @throws Error (output) when the output cannot be read.
std::vector<RowHash> intact_rows(const OutputDataset& output, const std::vector<RowHash>& rows,
                                 RowCheck check);

} // namespace runner
