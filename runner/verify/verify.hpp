// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "runner/verify/check_levels.hpp"
#include "runner/verify/check_runs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {
class Prober;
} // namespace runner

namespace runner::verify {

struct VerifyRequest {
    std::string file;
    std::optional<std::int64_t> sample;    ///< check only so many runs of rows
    std::optional<std::int64_t> recompute; ///< places; nothing: a few, if the input is still there
    std::optional<std::string> input;      ///< in place of the recorded one
    int threads = 1;                       ///< that read and compute, ≥ 1
};

/// How a finished output compares with what it says of itself.
struct Verification {
    std::string file;
    std::string dataset;
    ArrayInfo array;               ///< with all its frames, by which rows are numbered
    std::int64_t runs = 0;         ///< of rows, which the file has checksums of
    std::int64_t checked_runs = 0; ///< of these, compared
    std::int64_t checked_rows = 0;
    std::vector<WrongRows> wrong_runs; ///< each a run, numbered among the rows that the job made
    bool is_left_alone = false;        ///< by repair(), since nothing is right
    std::vector<WrongRows> wrong_rows; ///< the same, numbered among all rows, merged()
    std::int64_t recomputed_rows = 0;
    std::vector<WrongRows>
        wrong_recomputed;               ///< right by their checksum, but not what the job makes
    std::string not_recomputed;         ///< why nothing was, where it was not asked for
    std::int64_t kept_runs = 0;         ///< of rows of flats and darks that the output keeps
    std::int64_t checked_kept_runs = 0; ///< of these, compared
    std::int64_t checked_kept_rows = 0;
    std::vector<WrongRows> wrong_kept;
    std::int64_t levels = 0;            ///< coarser levels that the image has
    bool levels_are_checked = false;    ///< not where rows of the image are wrong
    bool levels_are_files = true;       ///< and not in the file of the image
    std::vector<WrongFile> wrong_files; ///< of the coarser levels

    bool differs() const {
        return !wrong_runs.empty() || !wrong_recomputed.empty() || !wrong_kept.empty() ||
               !wrong_files.empty();
    }
};

/// Compares the checksums of all rows, or of a sample, then the coarser levels of an image with
/// what is made of its elements, and computes a few places again with the CPU. @throws Error
/// (input) for a file that is no finished output with checksums; when `recompute` is given and the
/// input cannot be used.
Verification verify(const VerifyRequest& request, Prober& prober);

/// The rows that verify() computes again at `count` places of two rows, which may touch: the first
/// and the last, on either side of borders between runs, and some between.
RowSet places_to_recompute(const std::vector<RowHash>& runs, std::int64_t count);

/// The positions 0 … of - 1, or so many of them evenly spread, the first and the last included.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t of);

/// Rows that differ, adjacent ones of one reason as one range.
std::vector<WrongRows> merged(std::vector<WrongRows> rows);

/// "rows 3 to 9", "frame 2, rows 0 to 4", "frame 0, row 5 to frame 2, row 1": inclusive, frames and
/// their rows from 0, frames only where there are several.
std::string rows_text(RowRange rows, const ArrayInfo& array);

/// The result for people, ending with a line break, and as one JSON object.
std::string verification_text(const Verification& verification);
std::string verification_json(const Verification& verification);

} // namespace runner::verify
