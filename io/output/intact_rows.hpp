// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"

#include <functional>
#include <vector>

namespace runner {

/// How many runs of rows are read again before a run resumes from them. The others are read beside
/// the stream (runner/output/taken_rows.hpp).
enum class RowCheck {
    few, ///< the first, the last and some between; all when one of these is wrong
    all,
};

/// The rows of the journal that a run takes over.
struct IntactRows {
    std::vector<RowHash> rows;
    bool all_were_read = true; ///< else the others' bytes may have changed
};

/// The rows among the journal's rows whose bytes are in the output under way, after
/// restore_output(): the others are to be computed again. @throws Error (output) when the output
/// cannot be read.
IntactRows intact_rows(const OutputDataset& output, const std::vector<RowHash>& rows,
                       RowCheck check);

/// Reads a run of rows of the output under way; false where they have another checksum. Each call:
/// @throws Error (output).
using RowTest = std::function<bool(const RowHash&)>;

/// Opens what the test reads; `threads` ≥ 1 read at once. For one caller at a time.
RowTest open_row_test(const OutputDataset& output, int threads);

} // namespace runner
