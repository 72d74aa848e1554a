// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/row_geometry.hpp"

#include "base/error.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(BoxAt, TakesTheLargestBoxWorkedByHand) {
    const std::vector<std::int64_t> shape = {3, 2, 4, 5}; // 24 rows of 5
    EXPECT_EQ(box_at(shape, 0, 24), (RowBox{{0, 0, 0, 0}, {3, 2, 4, 5}, 24}));
    EXPECT_EQ(box_at(shape, 0, 23), (RowBox{{0, 0, 0, 0}, {2, 2, 4, 5}, 16}));
    EXPECT_EQ(box_at(shape, 16, 23), (RowBox{{2, 0, 0, 0}, {1, 1, 4, 5}, 4}));
    EXPECT_EQ(box_at(shape, 20, 23), (RowBox{{2, 1, 0, 0}, {1, 1, 3, 5}, 3}));
    EXPECT_EQ(box_at(shape, 3, 24), (RowBox{{0, 0, 3, 0}, {1, 1, 1, 5}, 1}));
    EXPECT_EQ(box_at(shape, 4, 24), (RowBox{{0, 1, 0, 0}, {1, 1, 4, 5}, 4}));
    EXPECT_EQ(box_at(shape, 8, 24), (RowBox{{1, 0, 0, 0}, {2, 2, 4, 5}, 16}));
    EXPECT_EQ(box_at(std::vector<std::int64_t>{7}, 2, 6), (RowBox{{2}, {4}, 4})); // rows of one
    EXPECT_EQ(box_at(std::vector<std::int64_t>{7, 3}, 2, 6), (RowBox{{2, 0}, {4, 3}, 4}));
    EXPECT_EQ(box_at(std::vector<std::int64_t>{7, 3}, 2, 3), (RowBox{{2, 0}, {1, 3}, 1}));
}

TEST(RowsToBorder, CoverTheArrayInPiecesThatBeginAndEndOnBorders) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{7}, {10, 3}, {3, 7, 2}, {2, 2, 5, 1}, {4, 1, 1}}) {
        const ArrayInfo array{ElementType::uint8, shape};
        const std::int64_t frame = shape.size() > 1 ? shape[shape.size() - 2] : shape[0];
        for (std::int64_t alignment = 1; alignment <= frame; ++alignment) {
            for (std::int64_t most = alignment; most < 30; ++most) {
                std::int64_t first = 0;
                std::int64_t pieces = 0;
                for (; first < row_count(array); ++pieces) {
                    const std::int64_t rows = rows_to_border(array, alignment, first, most);
                    ASSERT_GE(rows, 1);
                    ASSERT_LE(rows, most);
                    first += rows;
                    EXPECT_EQ(first % frame % alignment, 0);
                }
                EXPECT_EQ(first, row_count(array));
                if (most >= row_count(array)) {
                    EXPECT_EQ(pieces, 1);
                }
            }
        }
    }
}

TEST(RowsToBorder, AreAsManyAsMayBeWhereTheyReachNoBorder) {
    const ArrayInfo array{ElementType::uint8, {3, 9, 2}};
    EXPECT_EQ(rows_to_border(array, 4, 0, 3), 3);
    EXPECT_EQ(rows_to_border(array, 4, 4, 2), 2);
    EXPECT_EQ(rows_to_border(array, 4, 4, 5), 5);   // to the frame's end
    EXPECT_EQ(rows_to_border(array, 4, 4, 6), 5);   // row 10 is no border
    EXPECT_EQ(rows_to_border(array, 4, 22, 90), 5); // to the array's end
}

TEST(CheckRows, RefusesRowsBeyondTheArray) {
    const ArrayInfo array{ElementType::uint8, {2, 5, 3}};
    for (const auto& [first, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 0}, {0, 10}, {9, 1}, {10, 0}, {3, 4}}) {
        EXPECT_NO_THROW(check_rows(array, first, rows)) << first << ", " << rows;
    }
    for (const auto& [first, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {-1, 0}, {-1, 5}, {0, -1}, {4, -1}, {0, 11}, {9, 2}, {10, 1}, {11, 0}}) {
        EXPECT_THROW(check_rows(array, first, rows), Error) << first << ", " << rows;
    }
    try {
        check_rows(array, 8, 3);
        FAIL() << "there is no row 10";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::defect);
        EXPECT_NE(std::string(error.what()).find("rows 8 to 11"), std::string::npos);
    }
}

TEST(BoxAt, CoversEveryRunOfRowsOnceAndInOrder) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{3, 2, 4, 1}, {5, 3}, {9}, {2, 1, 3, 2, 2}}) {
        const std::int64_t all = row_count({ElementType::uint8, shape});
        for (std::int64_t first = 0; first < all; ++first) {
            for (std::int64_t end = first + 1; end <= all; ++end) {
                std::int64_t row = first;
                while (row < end) {
                    const RowBox box = box_at(shape, row, end);
                    std::int64_t start = 0;
                    std::int64_t rows = 1;
                    for (std::size_t axis = 0; axis < row_axes(shape); ++axis) {
                        start = start * shape[axis] + box.start[axis];
                        rows *= box.count[axis];
                    }
                    ASSERT_EQ(start, row);
                    ASSERT_EQ(rows, box.rows);
                    row += box.rows;
                }
                ASSERT_EQ(row, end);
            }
        }
    }
}

} // namespace
} // namespace runner
