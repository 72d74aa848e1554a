// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/dataset_part.hpp"

#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// Elements are their linear index. Counts how often it is called.
class IndexRows final : public RowReader {
  public:
    IndexRows(std::vector<std::int64_t> shape, int* calls) : calls_(calls) {
        info_.array = {ElementType::int64, std::move(shape)};
        info_.stored_bytes = byte_count(info_.array);
        info_.offset = 0;
    }
    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        ++*calls_;
        check_rows(info_.array, first, rows);
        const std::int64_t row = row_elements(info_.array);
        std::vector<std::int64_t> elements(static_cast<std::size_t>(rows * row));
        std::iota(elements.begin(), elements.end(), first * row);
        std::memcpy(to, elements.data(), elements.size() * sizeof(std::int64_t));
    }

  private:
    DatasetInfo info_;
    int* calls_;
};

using Elements = std::vector<std::int64_t>;

/// The elements of a part, by the meaning of its fields alone.
Elements elements_of(const std::vector<std::int64_t>& shape, const DatasetPart& part) {
    Elements found;
    std::vector<std::int64_t> at(shape.size(), 0);
    for (;;) {
        std::int64_t index = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const bool listed = axis == 0 && !part.frames.empty();
            index = index * shape[axis] + (listed ? part.frames[static_cast<std::size_t>(at[0])]
                                                  : part.first[axis] + at[axis]);
        }
        found.push_back(index);
        std::size_t axis = shape.size();
        while (axis > 0 && ++at[axis - 1] == part.count[axis - 1]) {
            at[--axis] = 0;
        }
        if (axis == 0) {
            return found;
        }
    }
}

Elements read(RowReader& reader, std::int64_t first, std::int64_t rows) {
    Elements elements(static_cast<std::size_t>(rows * row_elements(reader.info().array)));
    reader.read(first, rows, reinterpret_cast<std::byte*>(elements.data()));
    return elements;
}

DatasetPart random_part(const std::vector<std::int64_t>& shape, std::mt19937& random) {
    DatasetPart part;
    for (const std::int64_t extent : shape) {
        const std::int64_t a = static_cast<std::int64_t>(random() % static_cast<unsigned>(extent));
        const std::int64_t b = static_cast<std::int64_t>(random() % static_cast<unsigned>(extent));
        const bool whole = random() % 3 == 0;
        part.first.push_back(whole ? 0 : std::min(a, b));
        part.count.push_back(whole ? extent : std::max(a, b) - std::min(a, b) + 1);
    }
    if (shape.size() > 1 && random() % 2 == 0) {
        for (std::int64_t frame = 0; frame < shape[0]; ++frame) {
            if (random() % 3 != 0) {
                part.frames.push_back(frame);
            }
        }
        if (!part.frames.empty()) {
            part.first[0] = 0;
            part.count[0] = static_cast<std::int64_t>(part.frames.size());
        }
    }
    return part;
}

TEST(DatasetPart, ReadsAnyRowsOfAnyPart) {
    std::mt19937 random(1);
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{17}, {7, 11}, {5, 3, 7}, {9, 1, 4}, {3, 4, 2, 5}, {1, 1, 1}}) {
        for (int trial = 0; trial < 60; ++trial) {
            const DatasetPart part = random_part(shape, random);
            const Elements all = elements_of(shape, part);
            int calls = 0;
            const auto reader = open_part(std::make_unique<IndexRows>(shape, &calls), part);
            ASSERT_EQ(reader->info().array.shape, part.count);
            EXPECT_FALSE(reader->info().offset.has_value());
            const std::int64_t rows = row_count(reader->info().array);
            const std::int64_t row = row_elements(reader->info().array);
            ASSERT_EQ(read(*reader, 0, rows), all) << part_text(part);
            const auto first = static_cast<std::int64_t>(random() % static_cast<unsigned>(rows));
            const std::int64_t count =
                1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(rows - first));
            EXPECT_EQ(read(*reader, first, count),
                      Elements(all.begin() + first * row, all.begin() + (first + count) * row))
                << part_text(part) << " from " << first;
        }
    }
}

TEST(DatasetPart, ReadsRunsOfColumns) {
    const std::vector<std::int64_t> shape = {6, 5, 9};
    const DatasetPart part{{0, 1, 2}, {3, 4, 6}, {1, 2, 5}};
    const Elements all = elements_of(shape, part);
    int calls = 0;
    const auto reader = open_part(std::make_unique<IndexRows>(shape, &calls), part);
    // Rows 1 and 2 of each frame of the part, of them columns 1 to 3.
    const RowRuns runs{1, 2, 3, 4, 1, 3};
    Elements found(2 * 3 * 3);
    reader->read_runs(runs, reinterpret_cast<std::byte*>(found.data()));
    Elements expected;
    for (const std::int64_t row : {1, 2, 5, 6, 9, 10}) {
        expected.insert(expected.end(), all.begin() + row * 6 + 1, all.begin() + row * 6 + 4);
    }
    EXPECT_EQ(found, expected);
}

TEST(DatasetPart, ReadsNeighbouringFramesAtOnce) {
    int calls = 0;
    const auto reader =
        open_part(std::make_unique<IndexRows>(std::vector<std::int64_t>{9, 4, 3}, &calls),
                  {{0, 0, 0}, {5, 4, 3}, {2, 3, 4, 5, 8}});
    (void)read(*reader, 0, 20);
    EXPECT_EQ(calls, 2); // frames 2 to 5, and 8
}

TEST(DatasetPart, HasATextThatTellsPartsApart) {
    EXPECT_EQ(part_text({{0, 200}, {64, 1600}}), "[0:64, 200:1800]");
    EXPECT_EQ(part_text({{0, 0}, {3, 5}, {0, 2, 4}}), "[0:5:2, 0:5]");
    EXPECT_EQ(part_text({{0, 0}, {1, 5}, {7}}), "[7:8, 0:5]");
    const std::string uneven = part_text({{0, 0}, {3, 5}, {0, 2, 5}});
    EXPECT_TRUE(uneven.starts_with("[3 frames from 0 to 5, checksum ")) << uneven;
    EXPECT_NE(uneven, part_text({{0, 0}, {3, 5}, {0, 3, 5}}));
}

} // namespace
} // namespace runner
