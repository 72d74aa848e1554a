// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/ordered_rows.hpp"

#include "base/error.hpp"
#include "io/rows/row_geometry.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// The bytes of a row tell its number.
class Numbered final : public RowReader {
  public:
    explicit Numbered(std::vector<std::int64_t> shape) {
        info_.array = {ElementType::uint8, std::move(shape)};
    }
    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        const std::int64_t bytes = row_bytes(info_.array);
        for (std::int64_t row = 0; row < rows; ++row) {
            std::memset(to + row * bytes, static_cast<int>(first + row),
                        static_cast<std::size_t>(bytes));
        }
    }

  private:
    DatasetInfo info_;
};

/// Every window of the array in the order, of at most so many rows.
void check(std::int64_t first, std::int64_t second, std::int64_t width, std::int64_t step,
           std::int64_t kept_lines = 0) {
    SCOPED_TRACE(std::to_string(first) + " x " + std::to_string(second) + " x " +
                 std::to_string(width));
    const auto rows = open_ordered_rows(
        std::make_unique<Numbered>(std::vector<std::int64_t>{first, second, width}),
        {first, second}, kept_lines, 2);
    const std::int64_t count = first * second;
    std::vector<std::byte> read(static_cast<std::size_t>(count * width));
    for (std::int64_t begin = 0; begin < count; begin += step) {
        for (std::int64_t end = begin + 1; end <= count; end += step) {
            rows->read(begin, end - begin, read.data());
            for (std::int64_t row = begin; row < end; ++row) {
                const auto wanted = static_cast<std::byte>(row % first * second + row / first);
                const std::byte* const got = read.data() + (row - begin) * width;
                ASSERT_EQ(got[0], wanted) << begin << " to " << end << ", row " << row;
                ASSERT_EQ(got[width - 1], wanted) << begin << " to " << end << ", row " << row;
            }
        }
    }
}

TEST(OrderedRows, EveryWindow) {
    for (const std::int64_t first : {1, 2, 3, 7}) {
        for (const std::int64_t second : {1, 2, 5, 11}) {
            check(first, second, 3, 1);
        }
    }
}

TEST(OrderedRows, KeptLines) {
    for (const std::int64_t first : {1, 2, 7}) {
        for (const std::int64_t second : {1, 5, 11}) {
            for (const std::int64_t lines : {1, 2, 4, 20}) {
                check(first, second, 3, 1, lines);
            }
        }
    }
    check(101, 2, 3, 19, 2); // more rows than a thread takes at once
}

TEST(OrderedRows, RowsThatFillTheBuffer) {
    check(3, 5, scattered_rows_bytes / 2 - 1, 4);
    check(3, 4, scattered_rows_bytes + 1, 5);
    check(5, 3, scattered_rows_bytes / 7, 7);
}

TEST(OrderedRows, TheArrayIsDescribedInThatOrder) {
    DatasetInfo info;
    info.array = {ElementType::uint8, {4, 5, 6}};
    info.axes.each = {{"z"}, {"y"}, {"x"}};
    const DatasetInfo made = in_order(info, {4, 5});
    EXPECT_EQ(made.array.shape, (std::vector<std::int64_t>{5, 4, 6}));
    EXPECT_EQ(made.axes.each[0].name + made.axes.each[1].name + made.axes.each[2].name, "yzx");
    EXPECT_EQ(in_order(info, {1, 20}).array.shape, info.array.shape);
}

} // namespace
} // namespace runner
