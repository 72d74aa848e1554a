// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "runner/plan/row_set.hpp"
#include "runner/verify/check_runs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {
class Prober;
} // namespace runner

namespace runner::verify {

struct FinishedOutput;

struct RepairRequest {
    std::string file;
    std::optional<std::string> input; ///< in place of the recorded one
    int threads = 1;                  ///< that read, compute and write, ≥ 1
};

/// What was wrong and is right again.
struct Repair {
    std::string file;
    ArrayInfo array;
    std::int64_t runs = 0;           ///< of rows in all
    std::vector<RowRange> rows;      ///< runs written again
    std::vector<RowRange> checksums; ///< runs that were right, and their checksum in the list not
    std::vector<std::string> texts = {}; ///< of an output that is a folder: files without elements
    std::vector<std::string> files = {}; ///< of coarser levels, written again
    std::vector<RowRange> kept = {};     ///< runs of flats and darks, copied again
};

/// Anybody's file may have come under the name of an output whose record stands beside it, or in
/// its folder. One of which nothing is as it was made is left alone, unless no file of its rows is
/// there. `wrong`: of its runs.
bool may_be_another_file(const FinishedOutput& output, const std::vector<WrongRows>& wrong);

/// Writes the texts of a folder again that are missing, and the folders for them. Checks every run
/// of rows and computes the wrong ones again from the input. If all then have the checksums that
/// the file lists, puts them in their places; where they are what the file holds, mends the list
/// instead; and checks all once more. Flats and darks that an output keeps are copied from its scan
/// again, where they have the checksums that the file lists. Then writes the files of coarser
/// levels again that are not what the rows have. Cut short it leaves rows that are still wrong by
/// their checksum, and can be called again. Holds the output's lock.
/// @throws Error: (input) when the file is no finished output, or the input cannot be used;
/// (differs) when computed rows are neither, and then nothing is changed; (output).
Repair repair(const RepairRequest& request, Prober& prober);

/// The result for people, ending with a line break.
std::string repair_text(const Repair& repair);

} // namespace runner::verify
