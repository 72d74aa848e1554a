// SPDX-License-Identifier: BSD-3-Clause
#include "io/filters/chunk_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace runner {
namespace {

using Extents = std::vector<std::int64_t>;

/// The coordinates of number `index` in a box of these extents, the last axis fastest.
Extents coordinates(std::int64_t index, const Extents& extents) {
    Extents at(extents.size());
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        at[axis] = index % extents[axis];
        index /= extents[axis];
    }
    return at;
}

struct Case {
    Extents shape;
    Extents chunk;
};

/// An array whose elements are their own numbers, seen through its chunks.
class Chunks {
  public:
    explicit Chunks(const Case& one)
        : shape_(one.shape), extents_(one.chunk),
          lines_({ElementType::int32, one.shape}, one.chunk) {
        for (Extents chunk(shape_.size(), 0); chunk[0] < shape_[0];) {
            all_.push_back(chunk);
            std::size_t axis = shape_.size() - 1;
            chunk[axis] += extents_[axis];
            for (; axis > 0 && chunk[axis] >= shape_[axis]; --axis) {
                chunk[axis] = 0;
                chunk[axis - 1] += extents_[axis - 1];
            }
        }
    }

    const ChunkLines& lines() const { return lines_; }
    const std::vector<Chunk>& all() const { return all_; }

    /// A chunk as it is stored: -1 beyond the array.
    std::vector<std::int32_t> stored(const Chunk& chunk) const {
        std::vector<std::int32_t> elements;
        const std::int64_t count =
            std::accumulate(extents_.begin(), extents_.end(), std::int64_t{1}, std::multiplies<>());
        for (std::int64_t i = 0; i < count; ++i) {
            const Extents at = coordinates(i, extents_);
            std::int64_t number = 0;
            for (std::size_t axis = 0; axis < at.size() && number >= 0; ++axis) {
                const std::int64_t place = chunk[axis] + at[axis];
                number = place < shape_[axis] ? number * shape_[axis] + place : -1;
            }
            elements.push_back(static_cast<std::int32_t>(number));
        }
        return elements;
    }

    std::int64_t width() const { return shape_.back(); }
    std::int64_t rows() const {
        return std::accumulate(shape_.begin(), shape_.end() - 1, std::int64_t{1},
                               std::multiplies<>());
    }

  private:
    Extents shape_;
    Extents extents_;
    ChunkLines lines_;
    std::vector<Chunk> all_;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {{{5, 7}, {2, 3}},
                                          {{5, 7, 6}, {4, 3, 5}},
                                          {{5, 3, 6}, {3, 8, 6}},
                                          {{3, 4, 5, 2}, {2, 3, 2, 2}},
                                          {{1, 1, 1}, {4, 4, 4}}};
    return all;
}

/// The elements of rows that are copied in pieces of a few lines, each from within().
std::vector<std::int32_t> copied(const Chunks& chunks, std::int64_t first, std::int64_t end,
                                 std::int64_t piece) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>((end - first) * chunks.width()), -2);
    for (const Chunk& chunk : chunks.all()) {
        const std::vector<std::int32_t> stored = chunks.stored(chunk);
        const std::span<const std::byte> bytes = std::as_bytes(std::span(stored));
        const ChunkLines::Range range = chunks.lines().within(chunk, first, end);
        for (std::int64_t line = range.begin; line < range.end; line += piece) {
            const std::int64_t count = std::min(piece, range.end - line);
            chunks.lines().copy_rows(
                chunk,
                {line, bytes.subspan(static_cast<std::size_t>(line * chunks.lines().bytes()),
                                     static_cast<std::size_t>(count * chunks.lines().bytes()))},
                first, end, std::as_writable_bytes(std::span(rows)).data());
        }
    }
    return rows;
}

TEST(ChunkLines, CopyAllRowsInPieces) {
    for (const Case& one : cases()) {
        const Chunks chunks(one);
        for (std::int64_t first = 0; first < chunks.rows(); ++first) {
            for (std::int64_t end = first + 1; end <= chunks.rows(); end += 3) {
                std::vector<std::int32_t> wanted(
                    static_cast<std::size_t>((end - first) * chunks.width()));
                std::iota(wanted.begin(), wanted.end(),
                          static_cast<std::int32_t>(first * chunks.width()));
                for (const std::int64_t piece : {1, 2, 5, 1000}) {
                    ASSERT_EQ(copied(chunks, first, end, piece), wanted)
                        << one.shape.size() << " axes, rows " << first << " to " << end;
                }
            }
        }
    }
}

TEST(ChunkLines, AreNoMoreThanThoseFromTheFirstToTheLastWanted) {
    // Rows 1 and 2 of [5, 7] in chunks of [2, 3]: the second line of the first chunk, the first of
    // the next one, and nothing of the last.
    const ChunkLines lines({ElementType::uint8, {5, 7}}, {2, 3});
    const auto range = [&](const Chunk& chunk) {
        const ChunkLines::Range found = lines.within(chunk, 1, 3);
        return std::pair(found.begin, found.end);
    };
    EXPECT_EQ(range({0, 0}), std::pair(std::int64_t{1}, std::int64_t{2}));
    EXPECT_EQ(range({2, 3}), std::pair(std::int64_t{0}, std::int64_t{1}));
    EXPECT_EQ(range({4, 6}).first, range({4, 6}).second);
}

TEST(ChunkLines, GoToThePlacesOfTheirRows) {
    for (const Case& one : cases()) {
        const Chunks chunks(one);
        std::vector<std::int32_t> rows(static_cast<std::size_t>(chunks.rows() * chunks.width()));
        for (const Chunk& chunk : chunks.all()) {
            const std::vector<std::int32_t> stored = chunks.stored(chunk);
            chunks.lines().copy_lines(
                chunk, {0, std::as_bytes(std::span(stored))}, [&](std::int64_t row) {
                    return row % 2 == 0
                               ? reinterpret_cast<std::byte*>(rows.data() + row * chunks.width())
                               : nullptr;
                });
        }
        for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
            ASSERT_EQ(rows[static_cast<std::size_t>(i)], i / chunks.width() % 2 == 0 ? i : 0);
        }
    }
}

} // namespace
} // namespace runner
