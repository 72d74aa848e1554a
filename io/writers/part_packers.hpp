// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/packer.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// Packs the parts of chunks of an output as its shards hold them, a part by one of several
/// threads.
class PartPackers {
  public:
    /// `grid` is the output's and outlives it.
    PartPackers(const OutputDataset& output, const ChunkGrid& grid, int threads);

    /// Packs part `index` of rows that begin with row `first`, whose elements are at `from`. Valid
    /// until the thread's next call.
    std::span<const std::byte> pack(std::int64_t index, std::int64_t first, const std::byte* from,
                                    int thread);

    /// How many pieces of up to `bytes` a thread writes at once, of `pieces` in all.
    static std::int64_t together(std::int64_t pieces, std::int64_t bytes, int threads);

    /// What a thread holds of small parts that it writes at once.
    static std::int64_t together_bytes(std::int64_t part_bytes);

  private:
    std::span<const std::byte> whole_part(const ChunkGrid::Part& part, const std::byte* from,
                                          std::vector<std::byte>& whole);

    ArrayInfo array_;
    const ChunkGrid& grid_;
    bool cuts_; ///< chunks at the array's end are stored without what is beyond it
    std::vector<Packer> packers_;                     ///< one a thread
    std::vector<std::vector<std::byte>> whole_parts_; ///< one a thread
};

} // namespace runner
