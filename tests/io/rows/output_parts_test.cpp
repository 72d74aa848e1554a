// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/output_parts.hpp"

#include "base/sizes.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Extents = std::vector<std::int64_t>;
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

TEST(DealRows, BeginsEachRankWithItsFirstPart) {
    PartLayout parts;
    parts.parts = 6;
    parts.ranks = 2; // four blocks for three parts each
    parts.block = 2;
    EXPECT_EQ(deal_rows({ElementType::uint8, {15, 3}}, parts), (Pieces{{0, 2, 0, 0},
                                                                       {2, 2, 1, 0},
                                                                       {4, 2, 2, 0},
                                                                       {6, 2, 0, 2},
                                                                       {8, 2, 3, 0},
                                                                       {10, 2, 4, 0},
                                                                       {12, 2, 5, 0},
                                                                       {14, 1, 3, 2}}));
}

/// The chunk that a row is in, by its coordinates.
Extents chunk_of(const ArrayInfo& array, const OutputLayout& layout, std::int64_t row) {
    Extents chunk(row_axes(array.shape));
    for (std::size_t axis = chunk.size(); axis-- > 0;) {
        chunk[axis] = row % array.shape[axis] / std::min(layout.chunk[axis], array.shape[axis]);
        row /= array.shape[axis];
    }
    return chunk;
}

/// That each chunk of the output is one of one part, row by row.
void check_chunks(const OutputDataset& output) {
    const std::vector<OutputDataset> parts = part_datasets(output);
    std::map<Extents, std::pair<std::int64_t, Extents>> places;
    std::set<std::pair<std::int64_t, Extents>> used;
    for (const RowPiece& piece : deal_rows(output.array, output.parts)) {
        const OutputDataset& part = parts.at(static_cast<std::size_t>(piece.source));
        for (std::int64_t row = 0; row < piece.rows; ++row) {
            const std::pair place(piece.source,
                                  chunk_of(part.array, part.layout, piece.source_first + row));
            const Extents chunk = chunk_of(output.array, output.layout, piece.first + row);
            ASSERT_EQ(places.emplace(chunk, place).first->second, place) << "row " << row;
            used.insert(place);
        }
    }
    EXPECT_EQ(used.size(), places.size());
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
    if (!layout.chunk.empty() && row_count(array) < 1000) {
        check_chunks(output);
    }
}

TEST(DealRows, GivesEachRowOnePlace) {
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
    // The same holds for smaller arrays too, and no byte more.
    EXPECT_EQ(choose_part_layout({ElementType::float64, {4096, 4096}}, {}, 8, 1).block, 32);
    // 61681 rows of 17 bytes are a byte too many: three blocks, not two.
    EXPECT_EQ(choose_part_layout({ElementType::uint8, {123362, 17}}, {}, 2, 1).block, 41121);
    // 8192 blocks of 2 MiB.
    EXPECT_EQ(choose_part_layout({ElementType::uint8, {8192 * 8191, 256}}, {}, 8, 1).block, 8191);
}

TEST(ChoosePartLayout, HasAsManyPartsAsWantedWhereThereAreRows) {
    for (const std::int64_t frames : {1, 2, 3, 5, 7}) {
        for (const std::int64_t rows : {1, 2, 5, 7, 16}) {
            const ArrayInfo stack{ElementType::uint8, {frames, rows, 3}};
            for (const std::int64_t wanted : {0, 1, 2, 3, 5, 8, 9, 40}) {
                EXPECT_EQ(choose_part_layout(stack, {}, wanted, 1).parts,
                          std::clamp<std::int64_t>(wanted, 1, frames * rows))
                    << shape_text(stack.shape) << ", wanted " << wanted;
            }
        }
    }
}

TEST(ChoosePartLayout, CutsTheFirstAxisThatAllowsItWorkedByHand) {
    struct Case {
        Extents shape;
        Extents chunk;
        std::int64_t wanted;
        std::int64_t parts;
        std::size_t axis;
        std::int64_t block;
    };
    for (const Case& c : std::vector<Case>{
             {{6, 3}, {}, 2, 2, 0, 3},
             {{5, 3}, {}, 3, 3, 0, 1},         // no more than a third of the rows
             {{9, 256 * KiB}, {}, 2, 2, 0, 3}, // four rows fit: three blocks, of one size
             {{3, 1, 3}, {}, 2, 2, 0, 1},
             {{8, 4, 3}, {}, 8, 8, 0, 1},       // a frame for each
             {{8, 4, 3}, {}, 9, 9, 1, 2},       // half a frame
             {{8, 1024, 1024}, {}, 8, 8, 0, 1}, // frames of 1 MiB
             {{8, 1025, 1024}, {}, 8, 8, 1, 513},
             {{3, 40, 5}, {1, 8, 5}, 8, 8, 1, 8},
             {{3, 40, 5}, {1, 7, 5}, 8, 3, 0, 1}, // a frame ends within a chunk
             {{1, 31, 5}, {1, 4, 5}, 3, 3, 1, 8}, // there is only one frame
             {{6, 40, 5}, {2, 8, 5}, 8, 3, 0, 2}, // two frames a chunk
             {{2, 3, 9, 4}, {1, 1, 3, 4}, 7, 7, 2, 3},
         }) {
        SCOPED_TRACE(shape_text(c.shape) + " in chunks of " + shape_text(c.chunk));
        const PartLayout parts =
            choose_part_layout({ElementType::uint8, c.shape}, {c.chunk}, c.wanted, 1);
        EXPECT_EQ(parts.parts, c.parts);
        EXPECT_EQ(parts.axis, c.axis);
        EXPECT_EQ(parts.block, c.block);
    }
}

TEST(PartLayout, SaysHowMuchARankWritesAtOnce) {
    const ArrayInfo stack{ElementType::uint8, {40, 5, 7}};
    EXPECT_EQ(rows_for_all_parts(stack, {}), 1);
    PartLayout parts;
    parts.parts = 7;
    parts.ranks = 2; // three parts and four
    parts.block = 3;
    EXPECT_EQ(rows_for_all_parts(stack, parts), 4 * 3 * 5);
    EXPECT_EQ(part_threads(parts, 1), 4);
    EXPECT_EQ(part_threads(parts, 6), 6);
    EXPECT_EQ(part_threads(parts, 20), 7);
}

TEST(PartLayout, FitsAnArrayThatHasTheBlocks) {
    const ArrayInfo stack{ElementType::uint8, {2, 5, 7}};
    const auto fitting = [&](std::int64_t parts, std::int64_t ranks, std::size_t axis,
                             std::int64_t block) {
        PartLayout layout;
        layout.parts = parts;
        layout.ranks = ranks;
        layout.axis = axis;
        layout.block = block;
        return fits(stack, layout);
    };
    EXPECT_TRUE(fitting(10, 1, 1, 1));
    EXPECT_TRUE(fitting(2, 2, 0, 1));
    EXPECT_FALSE(fitting(11, 1, 1, 1));
    EXPECT_FALSE(fitting(2, 3, 0, 1)); // more ranks than blocks
    EXPECT_FALSE(fitting(2, 1, 2, 1)); // the axis of a row's elements
    EXPECT_FALSE(fitting(2, 1, 1, 0));
    EXPECT_FALSE(fitting(2, 1, 1, -1));
    EXPECT_FALSE(fitting(2, 0, 1, 1));
    EXPECT_FALSE(fitting(0, 0, 1, 1));
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
    for (const char* text : {"2 files of 1 ranks, axis 0 in blocks of 1, set 0, owner a",
                             "256 files of 3 ranks, axis 2 in blocks of 5, set 1, owner a"}) {
        const auto least_or_most = part_layout_from_text(text);
        ASSERT_TRUE(least_or_most) << text;
        EXPECT_EQ(to_text(*least_or_most), text);
    }
    for (const char* text :
         {"", "2 files", "1 files of 1 ranks, axis 0 in blocks of 1, set 0, owner a",
          "2 files of 0 ranks, axis 0 in blocks of 1, set 0, owner a",
          "2 files of 1 ranks, axis 0 in blocks of 0, set 0, owner a",
          "2 files of 1 ranks, axis 0 in blocks of 1, set 2, owner a",
          "2 files of 1 ranks, axis 0 in blocks of 1, set 0, owner a b",
          "257 files of 1 ranks, axis 0 in blocks of 1, set 0, owner a"}) {
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
    EXPECT_EQ(set_of_part_name("0196.h5"), 0);
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
