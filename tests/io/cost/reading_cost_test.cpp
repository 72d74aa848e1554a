// SPDX-License-Identifier: BSD-3-Clause
#include "io/cost/reading_cost.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using Way = DatasetLayout::Way;

/// 6 x 10 elements of two bytes in chunks of 4 x 5, stored as 10, 20, 30 and 40 bytes.
DatasetLayout four_chunks() {
    DatasetLayout layout;
    layout.info.array = {ElementType::uint16, {6, 10}};
    layout.info.chunk = {4, 5};
    layout.way = Way::chunks;
    layout.chunks = {{0, 100, 10}, {1, 110, 20}, {2, 130, 30}, {3, 160, 40}};
    return layout;
}

constexpr std::int64_t chunk_bytes = 4 * 5 * 2;

RowRuns rows_of(std::int64_t first, std::int64_t rows) { return {first, rows, 1, 0, 0, 10}; }

TEST(ChunkVisits, KeepsAChunkWhileItsRowsAreToCome) {
    const DatasetLayout layout = four_chunks();
    ChunkVisits visits(layout);
    for (std::int64_t row = 0; row < 6; ++row) {
        visits.read(row, 1);
        EXPECT_EQ(visits.chunks(), row < 4 ? 2 : 4) << row;
        EXPECT_EQ(visits.stored(), row < 4 ? 30 : 100) << row;
    }
    visits.read(5, 1);
    EXPECT_EQ(visits.chunks(), 6) << "they were let go of after their last row";
    visits.read(2, 3);
    EXPECT_EQ(visits.chunks(), 10);
    EXPECT_EQ(visits.stored(), 100 + 70 + 100);
}

TEST(ChunkVisits, CountsNoBytesOfAChunkThatIsNotStored) {
    DatasetLayout layout = four_chunks();
    layout.chunks.erase(layout.chunks.begin() + 1);
    ChunkVisits visits(layout);
    visits.read(0, 6);
    EXPECT_EQ(visits.chunks(), 4);
    EXPECT_EQ(visits.stored(), 80);
}

/// Chunks at the end are unpacked whole, and rows 0 to 3 are in the same two chunks.
TEST(ReadingCost, IsThatOfWholeChunks) {
    const DatasetLayout layout = four_chunks();
    const ReadingCost all = reading_cost(layout, {}, {{rows_of(0, 6)}});
    EXPECT_EQ(all.wanted, 120);
    EXPECT_EQ(all.stored, 100);
    EXPECT_EQ(all.unpacked, 4 * chunk_bytes);
    EXPECT_TRUE(all.exact);
    EXPECT_DOUBLE_EQ(all.amplification(), 160.0 / 120.0);

    const ReadingCost in_order =
        reading_cost(layout, {}, {{rows_of(0, 1), rows_of(1, 2), rows_of(3, 3)}});
    EXPECT_EQ(in_order.unpacked, 4 * chunk_bytes) << "each chunk once";

    const ReadingCost again = reading_cost(layout, {}, {{rows_of(4, 2), rows_of(0, 1)}});
    EXPECT_EQ(again.wanted, 60);
    EXPECT_EQ(again.unpacked, 4 * chunk_bytes);
    EXPECT_EQ(reading_cost(layout, {}, {}).amplification(), 1.0);
}

/// Each rank unpacks for itself the chunks that both have rows of.
TEST(ReadingCost, AddsUpRanks) {
    const ReadingCost cost = reading_cost(four_chunks(), {}, {{rows_of(0, 3)}, {rows_of(3, 3)}});
    EXPECT_EQ(cost.wanted, 120);
    EXPECT_EQ(cost.stored, 30 + 100);
    EXPECT_EQ(cost.unpacked, 6 * chunk_bytes);
    EXPECT_DOUBLE_EQ(cost.amplification(), 2.0);
}

/// Rows of columns 5 to 9 alone are read whole.
TEST(ReadingCost, CountsWholeRowsForSomeColumns) {
    const ReadingCost cost = reading_cost(four_chunks(), {}, {{{0, 4, 1, 0, 5, 5}}});
    EXPECT_EQ(cost.wanted, 40);
    EXPECT_EQ(cost.stored, 30);
    EXPECT_EQ(cost.unpacked, 2 * chunk_bytes);
}

TEST(ReadingCost, IsWhatIsWantedWhereRowsLieDense) {
    DatasetLayout layout = four_chunks();
    layout.way = Way::positions;
    ReadingCost cost = reading_cost(layout, {}, {{{0, 2, 2, 3, 5, 5}}}); // rows 0, 1, 3 and 4
    EXPECT_EQ(cost.wanted, 40);
    EXPECT_EQ(cost.stored, 40);
    EXPECT_EQ(cost.unpacked, 40);
    layout.way = Way::format; // of 120 bytes 30 are stored
    layout.info.stored_bytes = 30;
    cost = reading_cost(layout, {}, {{rows_of(0, 2)}});
    EXPECT_EQ(cost.wanted, 40);
    EXPECT_EQ(cost.stored, 10);
    EXPECT_EQ(cost.unpacked, 40);
}

/// Rows 0 to 5 are those of the chunks, the next four are rows 1 to 4 of another dataset.
TEST(ReadingCost, IsThatOfTheSources) {
    DatasetLayout dense = four_chunks();
    dense.way = Way::positions;
    DatasetLayout layout;
    layout.way = Way::sources;
    layout.info.array = {ElementType::uint16, {10, 10}};
    layout.sources = {four_chunks(), dense};
    layout.pieces = {{0, 6, 0, 0}, {6, 4, 1, 1}};
    const ReadingCost cost = reading_cost(layout, {}, {{rows_of(4, 4)}});
    EXPECT_EQ(cost.wanted, 80);
    EXPECT_EQ(cost.stored, 70 + 40);
    EXPECT_EQ(cost.unpacked, 2 * chunk_bytes + 40);
    EXPECT_EQ(cost.way, "from 2 datasets or files, each in place, chunk by chunk, by several "
                        "threads");
}

TEST(ReadingCost, NamesTheRowsOfWholeChunks) {
    const auto rows = [](const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& chunk) {
        DatasetLayout layout;
        layout.info.array = {ElementType::uint8, shape};
        layout.info.chunk = chunk;
        layout.way = Way::chunks;
        return rows_of_whole_chunks(layout).value_or(-1);
    };
    EXPECT_EQ(rows({6, 10}, {4, 5}), 4);
    EXPECT_EQ(rows({6, 10}, {9, 10}), 6) << "a chunk larger than the array";
    EXPECT_EQ(rows({8, 6, 10}, {1, 3, 10}), 3);
    EXPECT_EQ(rows({8, 6, 10}, {2, 6, 5}), 12);
    EXPECT_EQ(rows({8, 6, 10}, {2, 3, 10}), 12) << "the chunks of two layers";
    DatasetLayout dense = four_chunks();
    dense.way = Way::positions;
    EXPECT_EQ(rows_of_whole_chunks(dense), std::nullopt);
}

TEST(ReadingWay, IsSaidForPeople) {
    DatasetLayout layout = four_chunks();
    EXPECT_EQ(reading_way(layout), "in place, chunk by chunk, by several threads");
    layout.filters.resize(1);
    EXPECT_EQ(reading_way(layout), "unpacked by our own decoders, on all cores");
    layout.way = Way::positions;
    EXPECT_EQ(reading_way(layout), "in place, by several threads");
    layout.way = Way::library;
    layout.file = "a.h5";
    EXPECT_EQ(reading_way(layout), "through HDF5, in one process");
    layout.way = Way::sources;
    EXPECT_EQ(reading_way(layout), "nothing of it is stored");
}

} // namespace
} // namespace runner
