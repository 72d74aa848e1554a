// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// Counts the chunks that one reader of stored chunks unpacks, call by call, as the reader of
/// io/input/layout_readers.hpp does: it keeps a chunk while rows that it holds are yet to come.
/// Elements are not read.
class ChunkVisits {
  public:
    /// `layout`: of chunks; outlives this.
    explicit ChunkVisits(const DatasetLayout& layout);

    /// A call for rows [first, first + rows).
    void read(std::int64_t first, std::int64_t rows);

    std::int64_t chunks() const { return chunks_; } ///< unpacked, each time counted
    std::int64_t stored() const { return stored_; } ///< bytes read for them
    std::int64_t visits() const { return visits_; } ///< steps that counting took

  private:
    void visit(std::int64_t index, std::int64_t last_row, std::int64_t end);

    const DatasetLayout& layout_;
    std::vector<std::int64_t> counts_;                     ///< of chunks along each axis
    std::set<std::pair<std::int64_t, std::int64_t>> kept_; ///< last row, index
    std::set<std::int64_t> kept_indices_;
    std::int64_t chunks_ = 0;
    std::int64_t stored_ = 0;
    std::int64_t visits_ = 0;
};

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
