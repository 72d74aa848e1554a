// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/decomposition.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(Decomposition, SplitsOneFrameByHand) {
    const Decomposition d{1, 10, 2, RowBorder::inside, 1, 3, 2};
    EXPECT_EQ(d.slab(0), (RowRange{0, 5}));
    EXPECT_EQ(d.slab(1), (RowRange{5, 10}));
    ChunkCursor cursor(d, d.slab(1));
    EXPECT_EQ(cursor.next()->block, (RowBlock{1, 3, 5, 5, 1})); // to the grid of 3
    EXPECT_EQ(cursor.next()->block, (RowBlock{1, 4, 6, 6, 3}));
    EXPECT_EQ(cursor.next()->block, (RowBlock{1, 7, 3, 9, 1}));
    EXPECT_FALSE(cursor.next());
    EXPECT_EQ(count_chunks(d, d.slab(1)), 3);
}

TEST(Decomposition, TakesWholeFramesTogether) {
    const Decomposition d{5, 4, 1, RowBorder::inside, 1, 9, 2};
    EXPECT_EQ(d.slab(0), (RowRange{0, 10}));
    ChunkCursor first(d, d.slab(0));
    EXPECT_EQ(first.next()->block, (RowBlock{2, 0, 4, 0, 4}));
    const Chunk part = *first.next();
    EXPECT_EQ(part.frame, 2);
    EXPECT_EQ(part.block, (RowBlock{1, 0, 3, 0, 2}));
    EXPECT_FALSE(first.next());
    ChunkCursor second(d, d.slab(1));
    EXPECT_EQ(second.next()->block, (RowBlock{1, 1, 3, 2, 2}));
    EXPECT_EQ(second.next()->block, (RowBlock{2, 0, 4, 0, 4}));
}

TEST(Decomposition, PeriodicWindowsGoBeyondTheFrame) {
    const Decomposition d{1, 10, 3, RowBorder::periodic, 1, 4, 1};
    ChunkCursor cursor(d, d.slab(0));
    EXPECT_EQ(cursor.next()->block, (RowBlock{1, -3, 10, 0, 4}));
    const std::vector<RowSource> sources = row_sources(d, 0, {-3, 7});
    ASSERT_EQ(sources.size(), 2U);
    EXPECT_EQ(sources[0].source, 7);
    EXPECT_EQ(sources[0].count, 3);
    EXPECT_EQ(sources[1].extended, 0);
    EXPECT_EQ(sources[1].source, 0);
}

Decomposition random_decomposition(std::mt19937_64& random) {
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    Decomposition d;
    d.frames = pick(1, 4) == 1 ? pick(1, 40) : 1;
    d.rows = pick(1, 3) == 1 ? pick(1, 5) : pick(1, 300);
    d.halo = pick(1, 3) == 1 ? pick(0, 128) : pick(0, 4);
    d.border = pick(0, 1) == 1 ? RowBorder::periodic : RowBorder::inside;
    d.alignment = pick(1, 4) == 1 ? pick(1, 16) : 1;
    d.chunk_rows = pick(1, d.rows * 2 / d.alignment + 1) * d.alignment;
    d.ranks = static_cast<int>(pick(1, 3) == 1 ? pick(1, 500) : pick(1, 5));
    return d;
}

/// Every row of the output is in one chunk of one rank, on the alignment's grid, and every needed
/// row of the input is in the chunk's window or beyond the border and mapped by the operation.
TEST(Decomposition, CoversEveryRowOnceWithItsHalo) {
    std::mt19937_64 random(20261121);
    for (int trial = 0; trial < 4000; ++trial) {
        const Decomposition d = random_decomposition(random);
        SCOPED_TRACE(testing::Message()
                     << "trial " << trial << ": frames " << d.frames << " rows " << d.rows
                     << " halo " << d.halo << " periodic " << (d.border == RowBorder::periodic)
                     << " chunk " << d.chunk_rows << " ranks " << d.ranks);
        std::int64_t row = 0;
        for (int rank = 0; rank < d.ranks; ++rank) {
            const RowRange slab = d.slab(rank);
            ASSERT_EQ(slab.first, row);
            ChunkCursor cursor(d, slab);
            while (const std::optional<Chunk> chunk = cursor.next()) {
                const RowBlock& block = chunk->block;
                ASSERT_EQ(chunk->frame * d.rows + block.out_first, row);
                ASSERT_GT(chunk->out_rows(), 0);
                ASSERT_EQ(block.out_first % d.alignment, 0);
                ASSERT_LE(chunk->in_rows(), d.most_in_rows());
                ASSERT_LE(chunk->out_rows(), d.most_out_rows());
                const std::int64_t low = block.out_first - d.halo;
                const std::int64_t high = block.out_first + block.out_rows + d.halo;
                const bool whole = block.in_first == 0 && block.in_rows == d.rows;
                if (!whole) {
                    const bool periodic = d.border == RowBorder::periodic;
                    const std::int64_t zero = 0;
                    ASSERT_LE(block.in_first, periodic ? low : std::max(zero, low));
                    ASSERT_GE(block.in_first + block.in_rows,
                              periodic ? high : std::min(d.rows, high));
                }
                row += chunk->out_rows();
            }
            ASSERT_EQ(row, slab.last);
        }
        ASSERT_EQ(row, d.total_rows());
    }
}

/// A run resumes from what an earlier one left, whatever ranks and chunks that one had: each
/// unfinished row is in one chunk, no finished one is, and the ranks have as much to do.
TEST(Decomposition, LeavesFinishedRowsOut) {
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 2000; ++trial) {
        Decomposition d = random_decomposition(random);
        std::vector<RowRange> done;
        for (int rank = 0; rank < d.ranks; ++rank) {
            ChunkCursor cursor(d, d.slab(rank));
            while (const std::optional<Chunk> chunk = cursor.next()) {
                const std::int64_t first = chunk->frame * d.rows + chunk->block.out_first;
                if (random() % 3 == 0) {
                    done.push_back({first, first + chunk->out_rows()});
                }
            }
        }
        d.done = make_row_set(done);
        d.chunk_rows = (1 + static_cast<std::int64_t>(random() % 20)) * d.alignment;
        d.ranks = 1 + static_cast<int>(random() % 5);
        std::vector<int> seen(static_cast<std::size_t>(d.total_rows()));
        for (const RowRange& range : d.done) {
            std::fill(seen.begin() + range.first, seen.begin() + range.last, 1);
        }
        std::int64_t begin = 0;
        const std::int64_t to_do = d.total_rows() - count_rows(d.done);
        ASSERT_EQ(d.rows_to_do({0, d.total_rows()}), to_do);
        for (int rank = 0; rank < d.ranks; ++rank) {
            const RowRange slab = d.slab(rank);
            ASSERT_EQ(slab.first, begin);
            begin = slab.last;
            // Even but for the rounding to the alignment, where it counts rows to do only.
            ASSERT_LE(d.rows_to_do(slab), to_do / d.ranks + d.alignment + 1);
            std::int64_t rows = 0;
            ChunkCursor cursor(d, slab);
            while (const std::optional<Chunk> chunk = cursor.next()) {
                const std::int64_t first = chunk->frame * d.rows + chunk->block.out_first;
                ASSERT_LE(chunk->in_rows(), d.most_in_rows());
                for (std::int64_t row = first; row < first + chunk->out_rows(); ++row) {
                    ASSERT_EQ(seen[static_cast<std::size_t>(row)]++, 0);
                }
                rows += chunk->out_rows();
            }
            ASSERT_EQ(rows, d.rows_to_do(slab));
        }
        ASSERT_EQ(begin, d.total_rows());
        ASSERT_EQ(std::count(seen.begin(), seen.end(), 1), d.total_rows());
    }
}

/// The decomposition of a frame or two of 10 rows.
Decomposition in_chunks(std::int64_t chunk_rows, std::int64_t halo,
                        RowBorder border = RowBorder::inside) {
    return {3, 10, halo, border, 1, chunk_rows, 1};
}

TEST(Decomposition, KnowsTheMostRowsOfAChunk) {
    EXPECT_EQ(in_chunks(3, 2).most_in_rows(), 7);
    EXPECT_EQ(in_chunks(8, 2).most_in_rows(), 10);  // as a frame has no more
    EXPECT_EQ(in_chunks(25, 2).most_in_rows(), 20); // two frames
    EXPECT_EQ(in_chunks(3, 10).most_in_rows(), 10);
    EXPECT_EQ(in_chunks(3, 2, RowBorder::periodic).most_in_rows(), 7);
    EXPECT_EQ(in_chunks(3, 0, RowBorder::periodic).most_in_rows(), 3);
    EXPECT_EQ(in_chunks(3, 10, RowBorder::periodic).most_in_rows(), 10); // the frame, once
    EXPECT_EQ(in_chunks(10, 2, RowBorder::periodic).most_in_rows(),
              13); // 9 rows, and 2 on each side
    EXPECT_EQ(in_chunks(25, 2, RowBorder::periodic).most_in_rows(), 20);
    EXPECT_EQ(in_chunks(3, 2).most_out_rows(), 3);
    EXPECT_EQ(in_chunks(25, 2).most_out_rows(), 20);
}

TEST(Decomposition, KnowsItsLargestBlock) {
    EXPECT_EQ(in_chunks(3, 2).largest_block(), (RowBlock{1, 0, 7, 0, 3}));
    EXPECT_EQ(in_chunks(25, 2).largest_block(), (RowBlock{2, 0, 10, 0, 10}));
    EXPECT_EQ(in_chunks(10, 2, RowBorder::periodic).largest_block(), (RowBlock{1, 0, 13, 0, 10}));
}

TEST(Decomposition, OfOneRankIsInChunksOfWholeStoredRows) {
    StreamShape shape;
    shape.frames = 2;
    shape.rows = 10;
    shape.halo = 1;
    const Decomposition d = one_rank(shape, 4, 5);
    EXPECT_EQ(d.ranks, 1);
    EXPECT_EQ(d.alignment, 4);
    EXPECT_EQ(d.chunk_rows, 8);
    EXPECT_EQ(d.total_rows(), 20);
    EXPECT_EQ(d.halo, 1);
    EXPECT_EQ(one_rank(shape, 4, 0).chunk_rows, 4);
    EXPECT_EQ(one_rank(shape, 1, 0).chunk_rows, 1);
    EXPECT_EQ(one_rank(shape, 4, 1000).chunk_rows, 20); // all there are
}

TEST(ChunkAlignment, IsThatOfStorageAndOfLayers) {
    StreamShape shape;
    shape.output = {ElementType::uint8, {5, 4, 7}}; // frames of 4 rows
    EXPECT_EQ(chunk_alignment(shape, 6), 6);
    shape.made.layer = 3;
    shape.made.each = 2;
    EXPECT_EQ(chunk_alignment(shape, 3), 9); // 6 stored rows are those of three layers
    EXPECT_EQ(chunk_alignment(shape, 2), 3);
    shape.made.each = 8; // whole frames
    EXPECT_EQ(chunk_alignment(shape, 3), 3);
}

TEST(Decomposition, HoldsForSizesPast32Bits) {
    const std::int64_t rows = (std::int64_t{1} << 40) + 7;
    const Decomposition d{3, rows, 8, RowBorder::inside, 1, rows / 2, 7};
    EXPECT_EQ(d.slab(6).last, 3 * rows);
    EXPECT_EQ(d.slab(3).first, d.slab(2).last);
}

/// Layers of 3 lines; references in layers 0, 4, 8 and the last corner, 9, of 12: 5 each.
Decomposition of_layers() { return {1, 36, 6, RowBorder::inside, 3, 6, 2, {}, {3, 5, 4, 9}}; }

TEST(OutputRows, AreThoseOfLayersThatHaveAny) {
    const OutputRows made = of_layers().made;
    const std::vector<std::int64_t> before = {0, 5, 5, 5, 5, 10, 10, 10, 10, 15, 20, 20, 20};
    for (std::size_t layer = 0; layer < before.size(); ++layer) {
        EXPECT_EQ(made.before(static_cast<std::int64_t>(layer) * 3), before[layer]) << layer;
    }
    for (std::int64_t layers = 1; layers <= 12; ++layers) {
        for (std::int64_t first = 0; first + layers <= 12; ++first) {
            EXPECT_LE(made.before((first + layers) * 3) - made.before(first * 3),
                      made.most(layers * 3));
        }
    }
    const OutputRows each{};
    EXPECT_EQ(each.before(17), 17);
    EXPECT_EQ(each.most(17), 17);
}

TEST(OutputRows, LeadBackToTheRowsThatMakeThem) {
    const Decomposition d = of_layers();
    EXPECT_EQ(d.out_rows({0, 36}), (RowRange{0, 20}));
    EXPECT_EQ(d.rows_within({0, 20}), (RowRange{0, 36}));
    EXPECT_EQ(d.rows_within({5, 15}), (RowRange{3, 27}));
    EXPECT_TRUE(d.rows_within({6, 9}).empty());
    EXPECT_EQ(in_chunks(3, 2).rows_within({20, 25}), (RowRange{20, 25})); // of the third frame
    EXPECT_EQ(d.rows_around({6, 9}), (RowRange{12, 15}));
    EXPECT_EQ(d.rows_around({4, 16}), (RowRange{0, 30}));
    EXPECT_EQ(d.rows_around({0, 20}), (RowRange{0, 30}));
    for (std::int64_t first = 0; first < 20; ++first) {
        for (std::int64_t last = first + 1; last <= 20; ++last) {
            const RowRange around = d.out_rows(d.rows_around({first, last}));
            EXPECT_LE(around.first, first);
            EXPECT_GE(around.last, last);
            if (const RowRange within = d.rows_within({first, last}); !within.empty()) {
                EXPECT_GE(d.out_rows(within).first, first);
                EXPECT_LE(d.out_rows(within).last, last);
            }
        }
    }
}

} // namespace
} // namespace runner
