// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/output_parts.hpp"

#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

using Pieces = std::vector<RowPiece>;

TEST(DealRows, GivesBlocksInTurnWorkedByHand) {
    const ArrayInfo image{ElementType::uint8, {10, 7}};
    PartLayout parts;
    parts.parts = 2;
    parts.block = 3;
    EXPECT_EQ(deal_rows(image, parts),
              (Pieces{{0, 3, 0, 0}, {3, 3, 1, 0}, {6, 3, 0, 3}, {9, 1, 1, 3}}));
    parts.parts = 3;
    parts.ranks = 2; // blocks 0 and 1 of the first, 2 and 3 of the second
    EXPECT_EQ(deal_rows(image, parts), (Pieces{{0, 6, 0, 0}, {6, 3, 1, 0}, {9, 1, 2, 0}}));
    const ArrayInfo stack{ElementType::uint8, {2, 5, 7}};
    parts = {};
    parts.parts = 2;
    parts.axis = 1;
    parts.block = 4; // a short block ends each frame
    EXPECT_EQ(deal_rows(stack, parts),
              (Pieces{{0, 4, 0, 0}, {4, 1, 1, 0}, {5, 4, 0, 4}, {9, 1, 1, 1}}));
}

/// That every row is in one place, that rows of a part follow one another, and that pieces begin
/// and end where chunks do.
void check_dealt(const ArrayInfo& array, const OutputLayout& layout, std::int64_t wanted,
                 std::int64_t ranks) {
    const PartLayout parts = choose_part_layout(array, layout, wanted, ranks);
    ASSERT_LE(parts.parts, wanted);
    if (!parts.several()) {
        return;
    }
    ASSERT_TRUE(fits(array, parts));
    std::int64_t next = 0;
    std::vector<std::int64_t> filled(static_cast<std::size_t>(parts.parts), 0);
    for (const RowPiece& piece : deal_rows(array, parts)) {
        EXPECT_EQ(piece.first, next);
        EXPECT_EQ(piece.source_first, filled.at(static_cast<std::size_t>(piece.source)));
        next += piece.rows;
        filled[static_cast<std::size_t>(piece.source)] += piece.rows;
        if (!layout.chunk.empty()) {
            EXPECT_NO_THROW((void)ChunkGrid(array, layout).parts_of(piece.first, piece.rows));
        }
    }
    EXPECT_EQ(next, row_count(array));
    OutputDataset output{"a.h5.partial", "/x", array, layout};
    output.parts = parts;
    std::int64_t part = 0;
    for (const OutputDataset& some : part_datasets(output)) {
        EXPECT_EQ(row_count(some.array), filled[static_cast<std::size_t>(part)]);
        EXPECT_GT(row_count(some.array), 0);
        EXPECT_EQ(row_elements(some.array), row_elements(array));
        EXPECT_EQ(some.mark, part_mark(parts, part++));
    }
    EXPECT_EQ(part, parts.parts);
}

TEST(DealRows, GivesEachRowOnePlace) {
    using Extents = std::vector<std::int64_t>;
    for (const auto& [shape, chunks] : std::vector<std::pair<Extents, std::vector<Extents>>>{
             {{1}, {{}}},
             {{57}, {{}, {5}, {100}}},
             {{130, 47}, {{}, {9, 20}, {200, 50}}},
             {{1, 31, 4}, {{}, {1, 4, 4}}},
             {{3, 40, 5}, {{}, {1, 8, 2}, {1, 7, 5}, {2, 8, 5}}},
             {{2, 3, 9, 4}, {{}, {1, 1, 3, 4}, {1, 2, 3, 4}, {1, 1, 4, 4}}},
             {{4096, 2048, 600}, {{}, {16, 256, 600}}}}) {
        for (const Extents& chunk : chunks) {
            for (const std::int64_t parts : {1, 2, 3, 8, 256}) {
                for (const std::int64_t ranks : {1, 2, 3, 7, 300}) {
                    SCOPED_TRACE(shape_text(shape) + " in chunks of " + shape_text(chunk) + ", " +
                                 std::to_string(parts) + " parts, " + std::to_string(ranks) +
                                 " ranks");
                    check_dealt({ElementType::float64, shape}, {chunk}, parts, ranks);
                }
            }
        }
    }
}

TEST(ChoosePartLayout, KeepsBlocksNearOneMebibyte) {
    const ArrayInfo image{ElementType::float64, {32768, 32768}};
    const PartLayout parts = choose_part_layout(image, {}, 8, 2);
    EXPECT_EQ(parts.parts, 8);
    EXPECT_EQ(parts.ranks, 2);
    EXPECT_EQ(parts.axis, 0U);
    EXPECT_EQ(parts.block, 4);
    EXPECT_EQ(rows_for_all_parts(image, parts), 16);
    const PartLayout chunked = choose_part_layout(image, {{24, 1024}}, 8, 1);
    EXPECT_EQ(chunked.block, 24);
    const ArrayInfo huge{ElementType::float64, {131072, 131072}}; // 128 GiB: 16 MiB a block
    EXPECT_EQ(choose_part_layout(huge, {}, 8, 1).block, 16);
    const ArrayInfo rows{ElementType::uint8, {5, 3}};
    EXPECT_EQ(choose_part_layout(rows, {}, 8, 1).parts, 5);
    EXPECT_EQ(choose_part_layout({ElementType::uint8, {1, 3}}, {}, 8, 1), PartLayout{});
}

TEST(PiecesWithin, CutsTheFirstAndTheLast) {
    const Pieces all = {{0, 3, 0, 0}, {3, 3, 1, 0}, {6, 3, 0, 3}};
    EXPECT_EQ(pieces_within(all, 0, 9), all);
    EXPECT_EQ(pieces_within(all, 4, 1), (Pieces{{4, 1, 1, 1}}));
    EXPECT_EQ(pieces_within(all, 2, 5), (Pieces{{2, 1, 0, 2}, {3, 3, 1, 0}, {6, 1, 0, 3}}));
}

TEST(PartLayout, IsTheSameFromItsText) {
    PartLayout parts = choose_part_layout({ElementType::float64, {3, 40, 5}}, {}, 5, 2);
    parts.set = 1;
    parts.owner = "0123456789abcdef";
    EXPECT_EQ(part_layout_from_text(to_text(parts)), parts);
    const std::string identity = "kind = x\nlayout = 5\n" + parts_line(parts);
    EXPECT_EQ(parts_of_identity(identity), parts);
    EXPECT_EQ(parts_of_identity("output.x = \"\nparts = 1\"\nlayout = 5\n"), std::nullopt);
    for (const char* text :
         {"", "2 files", "1 files of 1 ranks, axis 0 in blocks of 1, set 0, owner a",
          "2 files of 0 ranks, axis 0 in blocks of 1, set 0, owner a",
          "2 files of 1 ranks, axis 0 in blocks of 1, set 2, owner a",
          "2 files of 1 ranks, axis 0 in blocks of 1, set 0, owner a b",
          "999 files of 1 ranks, axis 0 in blocks of 1, set 0, owner a"}) {
        EXPECT_EQ(part_layout_from_text(text), std::nullopt) << text;
    }
    const PartsRecord record{parts, {7, 8, 9, 10, 11}};
    const auto back = parts_record_from_text(to_text(record));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->layout, parts);
    EXPECT_EQ(back->bytes, record.bytes);
    EXPECT_FALSE(parts_record_from_text(to_text(PartsRecord{parts, {7, 8}})));
    PartLayout other = parts;
    other.axis = 7;
    EXPECT_FALSE(fits({ElementType::float64, {3, 40, 5}}, other));
    other = parts;
    other.block = 1000;
    EXPECT_FALSE(fits({ElementType::float64, {3, 40, 5}}, other));
}

TEST(PartName, SaysItsSet) {
    EXPECT_EQ(part_name(3, 0), "0003.h5");
    EXPECT_EQ(part_name(12, 1), "0012b.h5");
    EXPECT_EQ(set_of_part_name("0003.h5"), 0);
    EXPECT_EQ(set_of_part_name("0012b.h5"), 1);
    EXPECT_EQ(set_of_part_name("0012b.h5.layout"), 1);
    for (const char* name : {"", "3.h5", "00003.h5", "0003c.h5", "0003.h5.bak", "x003.h5"}) {
        EXPECT_EQ(set_of_part_name(name), std::nullopt) << name;
    }
    EXPECT_EQ(parts_folder("a/b.h5"), "a/b.parts");
    EXPECT_EQ(parts_folder("a/b.hdf5"), "a/b.hdf5.parts");
}

} // namespace
} // namespace runner
