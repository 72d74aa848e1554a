// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/plan/row_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner::verify {

/// Rows that are not as they should be.
struct WrongRows {
    RowRange rows;
    std::string why;                        ///< "the checksum differs", or why they cannot be read
    std::optional<std::uint64_t> hash = {}; ///< of a run as it is, where it can be read
    std::string stored_in = {};             ///< of a folder: the array, the chunks and their files

    bool operator==(const WrongRows&) const = default;
};

/// Reads the runs, which are in the order of their rows, in bounded memory on the reader's threads,
/// and compares their checksums on all cores. Returns the wrong ones, each run by itself; one that
/// cannot be read is wrong, and the others are checked all the same.
std::vector<WrongRows> check_runs(RowReader& stored, std::span<const RowHash> runs);

/// All their rows.
RowSet rows_of(const std::vector<WrongRows>& wrong);

/// Whether the elements are the same to the byte. Two NaNs are, whatever their sign and payload:
/// backends differ in these. `a` and `b` have the same size.
bool same_elements(ElementType type, std::span<const std::byte> a, std::span<const std::byte> b);

} // namespace runner::verify
