// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/stream_job.hpp"
#include "kernels/queue/row_block.hpp"
#include "runner/plan/row_set.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace runner {

/// How the rows of a stream job are dealt to ranks and cut into chunks: a value, made from sizes
/// and from which rows an earlier run has finished. Every row of the output belongs to exactly one
/// rank's slab, and to one chunk unless it is finished.
struct Decomposition {
    std::int64_t frames = 1;
    std::int64_t rows = 0; ///< of one frame
    std::int64_t halo = 0;
    RowBorder border = RowBorder::inside;
    std::int64_t alignment = 1; ///< slabs and chunks begin on multiples of it within a frame
    std::int64_t chunk_rows = 1;
    int ranks = 1;
    RowSet done = {}; ///< finished rows, in sets that begin and end where chunks may
    OutputRows made = {};

    std::int64_t total_rows() const { return frames * rows; }

    /// Rows of the output that belong to rows of the input, both counted through all frames; ends
    /// where chunks may.
    RowRange out_rows(RowRange range) const {
        return {out_before(range.first), out_before(range.last)};
    }
    /// The rows of the input that all these of the output belong to, and none else: the most of
    /// them; or the fewest that have them all.
    RowRange rows_within(RowRange out) const;
    RowRange rows_around(RowRange out) const;

    /// The rows of a rank (of the input, as all that is not said to be of the output): as many
    /// unfinished ones as another's. Empty for some ranks when there
    /// are more ranks than rows.
    RowRange slab(int rank) const;

    /// Rows of a range that are not finished.
    std::int64_t rows_to_do(RowRange range) const;

    /// Whether chunks are made of whole frames where the slab holds whole ones.
    bool whole_frames() const { return chunk_rows >= rows; }

    /// The input rows, held under extended numbers, for output rows [first, last) of one frame.
    RowRange window(std::int64_t first, std::int64_t last) const;

    /// The most input and output rows a chunk's buffers hold.
    std::int64_t most_in_rows() const;
    std::int64_t most_out_rows() const;
    /// A block as large as the largest.
    RowBlock largest_block() const;

  private:
    std::int64_t out_before(std::int64_t row) const {
        return row / rows * made.before(rows) + made.before(row % rows);
    }
    /// Where layers begin, counted through all frames; a frame's last layer may have fewer rows.
    std::int64_t layers_of_frame() const { return (rows + made.layer - 1) / made.layer; }
    std::int64_t layer_start(std::int64_t layer) const {
        return layer / layers_of_frame() * rows + layer % layers_of_frame() * made.layer;
    }
    /// The first layer that has `out` rows of the output before it or more.
    std::int64_t first_with(std::int64_t out) const;
};

/// What slabs and chunks begin on multiples of, where the output's storage takes rows in multiples
/// of `stored_rows` within a frame of the output.
std::int64_t chunk_alignment(const StreamShape& shape, std::int64_t stored_rows);

/// All rows as one rank's, in chunks of `wanted_rows`, brought into the array and up to a multiple
/// of chunk_alignment().
Decomposition one_rank(const StreamShape& shape, std::int64_t stored_rows,
                       std::int64_t wanted_rows);

/// One chunk: where its output rows start and its block.
struct Chunk {
    std::int64_t frame = 0; ///< its first (mostly only) frame
    RowBlock block;
    BlockRun run = {}; ///< of blocks of its frame without a finished row between them

    std::int64_t out_rows() const { return block.frames * block.out_rows; }
    std::int64_t in_rows() const { return block.frames * block.in_rows; }
};

/// Walks the chunks of one rank's slab in order; finished rows are left out.
class ChunkCursor {
  public:
    ChunkCursor(const Decomposition& decomposition, RowRange slab);

    /// The next chunk, or nothing at the end.
    std::optional<Chunk> next();

  private:
    Decomposition decomposition_;
    RowRange rest_;
    std::optional<Chunk> before_; ///< what next() returned last
};

/// How many chunks a slab is cut into.
std::int64_t count_chunks(const Decomposition& decomposition, RowRange slab);

/// A run of extended rows of one frame and the row of the input it comes from.
struct RowSource {
    std::int64_t extended = 0; ///< first extended row
    std::int64_t source = 0;   ///< first row, counted through all frames
    std::int64_t count = 0;
};

/// The rows behind the extended rows [range.first, range.last) of a frame, as runs.
std::vector<RowSource> row_sources(const Decomposition& decomposition, std::int64_t frame,
                                   RowRange range);

} // namespace runner
