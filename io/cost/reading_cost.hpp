// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// How the rows of a dataset come to a job, for people: "in place, by several threads", "unpacked
/// by our own decoders, on all cores", "through HDF5, in one process".
std::string reading_way(const DatasetLayout& layout);

/// What reading costs, of all ranks.
struct ReadingCost {
    std::string way;
    std::int64_t wanted = 0;   ///< bytes of elements that are asked for
    std::int64_t stored = 0;   ///< bytes read from storage
    std::int64_t unpacked = 0; ///< bytes of elements that these are
    bool exact = true;         ///< else counted for the first of the reads, and taken for all

    /// Bytes that are unpacked for each that is asked for.
    double amplification() const;
};

/// `reads`: of each rank the rows that it reads, in order, of the dataset or of the part.
ReadingCost reading_cost(const DatasetLayout& layout, const std::optional<DatasetPart>& part,
                         const std::vector<std::vector<RowRuns>>& reads);

/// So many rows in order, beginning at a chunk, are whole chunks; nothing where no number of rows
/// is, or nothing is stored in chunks.
std::optional<std::int64_t> rows_of_whole_chunks(const DatasetLayout& layout);

} // namespace runner
