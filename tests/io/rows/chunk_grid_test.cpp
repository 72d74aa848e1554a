// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/chunk_grid.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Extents = std::vector<std::int64_t>;

struct Case {
    Extents shape;
    Extents chunk;
};

const std::vector<Case> cases = {
    {{7}, {3}},
    {{7}, {9}},
    {{6}, {2}},
    {{7, 5}, {3, 2}},
    {{6, 5}, {2, 5}},
    {{6, 5}, {1, 9}},
    {{3, 7, 5}, {2, 3, 4}},
    {{4, 6, 4}, {1, 2, 2}},
    {{5, 3, 11, 2}, {2, 3, 4, 1}},
    {{3, 4, 2, 5}, {2, 3, 2, 2}},
    {{1, 1, 1}, {1, 1, 1}},
};

Extents element_at(const Extents& shape, std::int64_t number) {
    Extents element(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        element[axis] = number % shape[axis];
        number /= shape[axis];
    }
    return element;
}

std::int64_t elements_of(const Extents& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        count *= extent;
    }
    return count;
}

/// What a part is of, known from its elements one by one.
struct PartOf {
    Extents chunk; ///< coordinates in chunks
    Extents layer; ///< coordinates of the frame in the chunk
    std::set<std::int64_t> rows;
    std::set<std::int64_t> columns;
};

/// The parts in order: by frame, then down, then across.
std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, PartOf> parts_of(const Case& c) {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, PartOf> parts;
    const std::size_t axes = c.shape.size();
    const std::size_t leading = axes > 1 ? axes - 2 : 0;
    const std::int64_t columns = axes > 1 ? c.shape.back() : 1;
    for (std::int64_t number = 0; number < elements_of(c.shape); ++number) {
        const Extents element = element_at(c.shape, number);
        Extents chunk;
        Extents layer;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const std::int64_t extent = std::min(c.chunk[axis], c.shape[axis]);
            chunk.push_back(element[axis] / extent);
            if (axis < leading) {
                layer.push_back(element[axis] % extent);
            }
        }
        const std::int64_t row = number / columns;
        const std::int64_t frame = row / c.shape[leading];
        PartOf& part = parts[{frame, chunk[leading], axes > 1 ? chunk.back() : 0}];
        part.chunk = chunk;
        part.layer = layer;
        part.rows.insert(row);
        part.columns.insert(number % columns);
    }
    return parts;
}

/// The chunks' coordinates as HDF5 counts them: the last axis first.
std::vector<Extents> chunks_of(const Case& c) {
    std::set<Extents> chunks;
    for (std::int64_t number = 0; number < elements_of(c.shape); ++number) {
        Extents chunk = element_at(c.shape, number);
        for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
            chunk[axis] /= std::min(c.chunk[axis], c.shape[axis]);
        }
        chunks.insert(chunk);
    }
    return {chunks.begin(), chunks.end()};
}

ChunkGrid grid_of(const Case& c) { return ChunkGrid({ElementType::uint16, c.shape}, {c.chunk}); }

TEST(ChunkGrid, CountsChunksAsHdf5DoesWorkedByHand) {
    // Two chunks along the first axis, the second cut; three along the next; two along the last.
    const ChunkGrid grid({ElementType::uint8, {3, 7, 5}}, {{2, 3, 4}});
    EXPECT_EQ(grid.count(), 12);
    EXPECT_EQ(grid.start_of(7), (Extents{2, 0, 4}));
    EXPECT_EQ(grid.chunk_at({2, 2, 4}), 7);
    EXPECT_EQ(grid.chunk_at({1, 6, 3}), 4);
}

TEST(ChunkGrid, HasTheExtentsOfItsPartsWorkedByHand) {
    const ChunkGrid grid({ElementType::uint16, {3, 7, 5}}, {{2, 3, 9}});
    EXPECT_EQ(grid.chunk(), (Extents{2, 3, 5}));
    EXPECT_EQ(grid.frame_rows(), 7);
    EXPECT_EQ(grid.columns(), 5);
    EXPECT_EQ(grid.chunk_rows(), 3);
    EXPECT_EQ(grid.chunk_columns(), 5);
    EXPECT_EQ(grid.layers(), 2);
    EXPECT_EQ(grid.part_bytes(), 30);
    EXPECT_EQ(grid.chunk_bytes(), 60);
    EXPECT_EQ(grid.count(), 6);
    EXPECT_EQ(grid.parts(), 9);
    const ChunkGrid line({ElementType::float64, {7}}, {{3}});
    EXPECT_EQ(line.frame_rows(), 7);
    EXPECT_EQ(line.columns(), 1);
    EXPECT_EQ(line.chunk_rows(), 3);
    EXPECT_EQ(line.chunk_columns(), 1);
    EXPECT_EQ(line.chunk_bytes(), 24);
    EXPECT_EQ(line.parts(), 3);
}

TEST(ChunkGrid, FindsTheChunkOfEveryElement) {
    for (const Case& c : cases) {
        const ChunkGrid grid = grid_of(c);
        const std::vector<Extents> chunks = chunks_of(c);
        ASSERT_EQ(grid.count(), static_cast<std::int64_t>(chunks.size()));
        for (std::int64_t number = 0; number < elements_of(c.shape); ++number) {
            const Extents element = element_at(c.shape, number);
            Extents start = grid.start_of(grid.chunk_at(element));
            for (std::size_t axis = 0; axis < start.size(); ++axis) {
                const std::int64_t extent = std::min(c.chunk[axis], c.shape[axis]);
                ASSERT_EQ(start[axis], element[axis] / extent * extent);
                start[axis] /= extent;
            }
            ASSERT_EQ(chunks[static_cast<std::size_t>(grid.chunk_at(element))], start);
        }
    }
}

TEST(ChunkGrid, HasAPartOfEachFrameForEachLayerOfAChunk) {
    for (const Case& c : cases) {
        const ChunkGrid grid = grid_of(c);
        const auto parts = parts_of(c);
        const std::vector<Extents> chunks = chunks_of(c);
        ASSERT_EQ(grid.parts(), static_cast<std::int64_t>(parts.size()));
        std::int64_t index = 0;
        for (const auto& [key, expected] : parts) {
            const ChunkGrid::Part part = grid.part_at(index);
            ASSERT_EQ(part.first_row, *expected.rows.begin());
            ASSERT_EQ(part.rows, static_cast<std::int64_t>(expected.rows.size()));
            ASSERT_EQ(part.first_column, *expected.columns.begin());
            ASSERT_EQ(part.columns, static_cast<std::int64_t>(expected.columns.size()));
            const ChunkGrid::Place place = grid.place_of(index);
            ASSERT_EQ(chunks[static_cast<std::size_t>(place.chunk)], expected.chunk);
            std::int64_t layer = 0;
            for (std::size_t axis = 0; axis < expected.layer.size(); ++axis) {
                layer = layer * grid.chunk()[axis] + expected.layer[axis];
            }
            ASSERT_EQ(place.layer, layer);
            ASSERT_EQ(grid.part_in(place), index);
            ++index;
        }
    }
}

TEST(ChunkGrid, CountsWholeChunksOfSeveralLayersBehindTheParts) {
    for (const Case& c : cases) {
        const ChunkGrid grid = grid_of(c);
        EXPECT_EQ(grid.pieces(), grid.layers() == 1 ? grid.parts() : grid.parts() + grid.count());
        std::set<std::int64_t> pieces;
        for (std::int64_t chunk = 0; chunk < grid.count(); ++chunk) {
            const std::int64_t piece = grid.piece_of(chunk);
            EXPECT_EQ(grid.place_of(piece).chunk, chunk);
            EXPECT_EQ(grid.place_of(piece).layer, 0);
            EXPECT_TRUE(piece >= (grid.layers() == 1 ? 0 : grid.parts()) && piece < grid.pieces());
            EXPECT_TRUE(pieces.insert(piece).second) << "two chunks are piece " << piece;
        }
    }
}

TEST(ChunkGrid, HasNoPartWhereTheArrayEndsWithinAChunk) {
    for (const Case& c : cases) {
        const ChunkGrid grid = grid_of(c);
        std::set<std::int64_t> found;
        for (std::int64_t chunk = 0; chunk < grid.count(); ++chunk) {
            for (std::int64_t layer = 0; layer < grid.layers(); ++layer) {
                if (const auto part = grid.part_in({chunk, layer})) {
                    EXPECT_TRUE(*part >= 0 && *part < grid.parts());
                    EXPECT_TRUE(found.insert(*part).second) << "two places of part " << *part;
                }
            }
        }
        EXPECT_EQ(static_cast<std::int64_t>(found.size()), grid.parts());
    }
}

TEST(ChunkGrid, TakesRowsFromBorderToBorder) {
    for (const Case& c : cases) {
        const ChunkGrid grid = grid_of(c);
        std::map<std::int64_t, std::int64_t> part_from; // where rows may begin and end
        std::int64_t index = 0;
        std::int64_t end = 0;
        for (const auto& [key, part] : parts_of(c)) {
            part_from.emplace(*part.rows.begin(), index++);
            end = *part.rows.rbegin() + 1;
        }
        part_from.emplace(end, index);
        for (std::int64_t first = -1; first <= end + 1; ++first) {
            for (std::int64_t last = first - 1; last <= end + 1; ++last) {
                const bool fits =
                    part_from.count(first) != 0 && part_from.count(last) != 0 && last >= first;
                if (fits) {
                    EXPECT_EQ(grid.parts_of(first, last - first),
                              std::pair(part_from[first], part_from[last]));
                } else {
                    EXPECT_THROW(grid.parts_of(first, last - first), Error)
                        << first << " to " << last;
                }
            }
        }
    }
}

/// The message about a chunk; "" where it is allowed.
std::string refusal(const Extents& shape, const Extents& chunk, ElementType type) {
    try {
        check_chunk({type, shape}, chunk, "output.chunk = ...");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    return "";
}

TEST(Chunks, HaveOneExtentForEachAxisAndAreBelow4GiB) {
    const auto bytes = ElementType::uint8;
    EXPECT_EQ(refusal({5, 4}, {1, 1}, bytes), "");
    EXPECT_NE(refusal({5, 4}, {1}, bytes).find("has 2 axes"), std::string::npos);
    EXPECT_NE(refusal({5, 4}, {1, 1, 1}, bytes).find("has 2 axes"), std::string::npos);
    EXPECT_NE(refusal({5, 4}, {1, 0}, bytes).find("below 1"), std::string::npos);
    EXPECT_NE(refusal({5, 4}, {-1, 4}, bytes).find("below 1"), std::string::npos);
    constexpr std::int64_t most = 4 * GiB - 64 * MiB;
    EXPECT_EQ(refusal({8 * GiB}, {most}, bytes), "");
    EXPECT_NE(refusal({8 * GiB}, {most + 1}, bytes).find("less than 4 GiB"), std::string::npos);
    EXPECT_NE(refusal({8 * GiB}, {most / 8 + 1}, ElementType::float64).find("less than 4 GiB"),
              std::string::npos);
    EXPECT_EQ(refusal({3, 5}, {8 * GiB, 8 * GiB}, bytes), ""); // cut to the array's
}

TEST(GatherPart, CopiesRowsAndFillsWhatIsBeyondTheArray) {
    const ArrayInfo array{ElementType::uint16, {4, 5}};
    std::vector<std::uint16_t> from(20);
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<std::uint16_t>(1000 * (i + 1));
    }
    std::vector<std::uint16_t> to(9, 7);
    const ChunkGrid::Part part{1, 2, 1, 3};
    gather_part(array, part, 4, reinterpret_cast<const std::byte*>(from.data()),
                reinterpret_cast<std::byte*>(to.data()));
    EXPECT_EQ(to, (std::vector<std::uint16_t>{7000, 8000, 9000, 0, 12000, 13000, 14000, 0, 7}));
}

} // namespace
} // namespace runner
