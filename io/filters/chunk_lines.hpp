// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/filters/kept_chunks.hpp"
#include "io/rows/row_geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace runner {

/// Elements of a chunk from the beginning of one of its lines on.
struct StoredLines {
    std::int64_t first = 0; ///< line of the chunk
    std::span<const std::byte> elements;
};

/// Which rows of an array the lines of a chunk are parts of. A line is a run along the chunk's last
/// axis; lines are counted as they are stored.
class ChunkLines {
  public:
    /// Lines of a chunk, from `begin` to before `end`.
    struct Range {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };

    /// Chunks of the extents `chunk`, as many axes as the array has.
    ChunkLines(const ArrayInfo& array, const std::vector<std::int64_t>& chunk);

    /// Lines of a chunk.
    std::int64_t count() const { return count_; }
    std::int64_t bytes() const { return bytes_; }

    /// Number of the last row of the array that the chunk holds a part of.
    std::int64_t last_row(const Chunk& chunk) const;

    /// The first row of a chunk that is nothing but whole rows, one after the other, all of them in
    /// [first, end).
    std::optional<std::int64_t> whole_rows(const Chunk& chunk, std::int64_t first,
                                           std::int64_t end) const;

    /// The lines from the first to the last one that are parts of rows [first, end).
    Range within(const Chunk& chunk, std::int64_t first, std::int64_t end) const;

    /// Copies what the lines hold of rows [first, end) to its place among them.
    void copy_rows(const Chunk& chunk, const StoredLines& stored, std::int64_t first,
                   std::int64_t end, std::byte* to) const;

    /// Copies each line to its row's place, which `place_of_row` gives, or null. The array has
    /// several axes.
    void copy_lines(const Chunk& chunk, const StoredLines& stored,
                    const std::function<std::byte*(std::int64_t row)>& place_of_row) const;

  private:
    void copy_box(const Chunk& chunk, const StoredLines& stored, const RowBox& box,
                  std::byte* to) const;
    std::int64_t row_of(const Chunk& chunk, std::int64_t line) const;
    std::int64_t used_bytes(const Chunk& chunk) const;

    ArrayInfo array_;
    std::vector<std::int64_t> chunk_; ///< extents
    std::int64_t row_;                ///< bytes of a row
    std::int64_t bytes_;              ///< of a line
    std::int64_t count_;
};

} // namespace runner
