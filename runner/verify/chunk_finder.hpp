// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/chunk_grid.hpp"
#include "io/rows/written_format.hpp"
#include "runner/plan/row_set.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace runner::verify {

/// A chunk of an array that is stored in a folder, or a whole file of them, as people look for it.
struct FoundChunk {
    std::string array;               ///< "/1"
    std::vector<std::int64_t> shard; ///< by its index; empty in an array without shards
    std::vector<std::int64_t> chunk; ///< by its index; empty where the whole shard is meant
    std::string file;                ///< in the output's folder

    bool operator==(const FoundChunk&) const = default;
};

/// "shard [0, 1, 0], chunk [0, 2, 1]".
std::string place_text(const FoundChunk& found);

/// The same with "array /1, " before it.
std::string found_text(const FoundChunk& found);

/// Where the chunks of an output are that is a folder.
class ChunkFinder {
  public:
    /// `output`: the image, or a level of it; outlives it.
    explicit ChunkFinder(const OutputDataset& output);

    /// By the chunk's number in ChunkGrid.
    FoundChunk find(std::int64_t chunk) const;

    /// The chunks that hold the first and the last element of a run of rows.
    std::pair<FoundChunk, FoundChunk> find(RowRange rows) const;

  private:
    const OutputDataset& output_;
    ChunkGrid grid_;
    std::vector<std::int64_t> file_of_; ///< chunk
};

/// The output is a folder, whose files are no outputs of their own.
bool is_folder_of_chunks(const OutputDataset& output);

} // namespace runner::verify
