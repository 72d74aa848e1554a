// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/page_pool.hpp"
#include "io/filters/packer.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace runner {

/// Rows of an output whose packed chunks have several layers, in memory until a rank has all rows
/// of a chunk. A line is the rows of one layer of chunks that lie side by side, a band all lines of
/// these chunks. For one thread at a time, but for pack().
class ChunkBands {
  public:
    /// Null where whole chunks are not to be packed: they have one layer, no compression or several
    /// files that may cut them, or `memory` bytes are too little. `grid` is the output's and
    /// outlives it.
    static std::unique_ptr<ChunkBands> of(const OutputDataset& output, const ChunkGrid& grid,
                                          std::int64_t memory, int threads);

    ChunkBands(const OutputDataset& output, const ChunkGrid& grid, std::int64_t memory,
               int threads);

    struct Line {
        std::int64_t part = 0;  ///< its first one
        std::int64_t first = 0; ///< its first row in the output
        const std::byte* rows = nullptr;
    };

    /// A chunk of which all rows are in memory.
    struct WholeChunk {
        std::int64_t index = 0;
        const std::byte* band = nullptr;
    };

    /// The memory that the line which begins with this part is to be copied to; null where there is
    /// none for its band.
    std::byte* place(std::int64_t part);

    /// The line goes elsewhere, so its band will not be whole, and its other lines are to go there
    /// too.
    void leave(std::int64_t part) { left_.insert(band_of(part)); }
    bool is_left(std::int64_t part) const { return left_.contains(band_of(part)); }

    /// The chunks that have become whole, in their order in each band.
    std::vector<WholeChunk> whole() const;
    /// Gives their memory back.
    void drop_whole();

    /// Packs a whole chunk. Valid until the thread's next call.
    std::span<const std::byte> pack(const WholeChunk& chunk, int thread);

    /// The lines that came since the last call and are not in whole chunks.
    std::vector<Line> unsaved();
    /// The same of bands that this rank does not seem to complete, which end; their memory is valid
    /// until the next place().
    std::vector<Line> give_up();

    /// Gives all memory of rows back.
    void clear();

    /// Memory of packing by one thread.
    static std::int64_t packing_bytes(const OutputLayout& layout, const ChunkGrid& grid);

  private:
    enum class Came : char { no, unsaved, saved };

    struct Band {
        std::size_t buffer = 0;
        std::vector<Came> lines; ///< one a layer
        std::int64_t missing = 0;
        std::int64_t touched = 0; ///< lines_ when one came last
    };

    std::int64_t band_of(std::int64_t part) const;
    Band* begin(std::int64_t index);
    void add_unsaved(std::int64_t index, Band& band, std::vector<Line>& lines) const;

    ArrayInfo array_;
    const ChunkGrid& grid_;
    std::int64_t line_bytes_;
    PagePool buffers_;                   ///< of bands
    std::map<std::int64_t, Band> bands_; ///< by their index
    std::map<std::int64_t, Band> whole_;
    std::set<std::int64_t> left_; ///< bands of which not all lines were kept
    std::int64_t lines_ = 0;      ///< that came
    std::vector<Packer> packers_; ///< one a thread
    std::vector<std::vector<std::byte>> chunks_;
};

} // namespace runner
