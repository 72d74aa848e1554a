// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/verify/check_runs.hpp"
#include "runner/verify/finished_output.hpp"

#include <memory>
#include <vector>

namespace runner::verify {

/// Rows of a finished output that keeps the flats and darks of its scan. The rows of its job are
/// numbered without these, those that users see with them.

/// All rows of the output, as users see them. @throws Error (input).
std::unique_ptr<RowReader> open_all_rows(FileAccess& files, const FinishedOutput& output,
                                         int threads);

/// Rows of the job by their numbers among all rows of the output; as they are where it keeps
/// nothing.
std::vector<WrongRows> among_all_rows(const FinishedOutput& output,
                                      const std::vector<WrongRows>& made);
std::vector<RowRange> among_all_rows(const FinishedOutput& output,
                                     const std::vector<RowRange>& made);

/// Which of the kept rows, or of a sample of their runs, are wrong. None where nothing is kept.
std::vector<WrongRows> wrong_kept_rows(FileAccess& files, const FinishedOutput& output,
                                       std::span<const RowHash> runs, int threads);

/// Copies the flats and darks from the scan again. @throws Error (differs) where they are others
/// than the output's checksums say, before anything is written; (input), (output).
void restore_kept_rows(FileAccess& files, const FinishedOutput& output,
                       const PreparedJob& prepared);

} // namespace runner::verify
