// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace runner {

/// Counts the chunks that one reader of stored chunks unpacks, call by call, as the reader of
/// io/input/chunk_reader.hpp does: it keeps a chunk while rows that it holds are yet to come.
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

} // namespace runner
