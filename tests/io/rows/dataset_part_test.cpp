// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/dataset_part.hpp"

#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// A call: first row, rows of a run, runs, rows from one to the next, first column, columns.
using Call = std::array<std::int64_t, 6>;
using Calls = std::vector<Call>;

/// Elements are their linear index. Lists how it is called; a call for whole rows has columns −1.
class IndexRows final : public RowReader {
  public:
    IndexRows(std::vector<std::int64_t> shape, Calls* calls) : calls_(calls) {
        info_.array = {ElementType::int64, std::move(shape)};
        info_.stored_bytes = byte_count(info_.array);
        info_.offset = 0;
    }
    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        calls_->push_back({first, rows, 1, 0, 0, -1});
        check_rows(info_.array, first, rows);
        const std::int64_t row = row_elements(info_.array);
        std::vector<std::int64_t> elements(static_cast<std::size_t>(rows * row));
        std::iota(elements.begin(), elements.end(), first * row);
        std::memcpy(to, elements.data(), elements.size() * sizeof(std::int64_t));
    }
    void read_runs(const RowRuns& runs, std::byte* to) override {
        calls_->push_back(
            {runs.first, runs.rows, runs.runs, runs.stride, runs.first_column, runs.columns});
        std::vector<std::int64_t> elements;
        for (std::int64_t i = 0; i < runs.runs * runs.rows; ++i) {
            const std::int64_t row = runs.first + i / runs.rows * runs.stride + i % runs.rows;
            check_rows(info_.array, row, 1);
            for (std::int64_t column = 0; column < runs.columns; ++column) {
                elements.push_back(row * row_elements(info_.array) + runs.first_column + column);
            }
        }
        std::memcpy(to, elements.data(), elements.size() * sizeof(std::int64_t));
    }

  private:
    DatasetInfo info_;
    Calls* calls_;
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
            index =
                index * shape[axis] + (listed ? part.frames[static_cast<std::size_t>(at[0])]
                                              : part.first[axis] + at[axis] * part.step_of(axis));
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

/// The same with steps, and without some of the axes.
DatasetPart random_selection(const std::vector<std::int64_t>& shape, std::mt19937& random) {
    DatasetPart part = random_part(shape, random);
    part.step.assign(shape.size(), 1);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const bool listed = axis == 0 && !part.frames.empty();
        if (random() % 3 == 0 && !listed) {
            part.count[axis] = 1;
            if (part.dropped.size() + 1 < shape.size()) {
                part.dropped.push_back(axis);
            }
        } else if (axis > 0 && part.count[axis] > 2 && random() % 2 == 0) {
            part.step[axis] = 2;
            part.count[axis] = (part.count[axis] - 1) / 2 + 1;
        }
    }
    return part;
}

const std::array<std::vector<std::int64_t>, 6> shapes = {
    std::vector<std::int64_t>{17}, {7, 11}, {5, 3, 7}, {9, 1, 4}, {3, 4, 2, 5}, {1, 1, 1}};

/// The reader has all these elements, and those of random rows.
void check_rows(RowReader& reader, const Elements& all, const DatasetPart& part,
                std::mt19937& random) {
    const std::int64_t rows = row_count(reader.info().array);
    const std::int64_t row = row_elements(reader.info().array);
    ASSERT_EQ(read(reader, 0, rows), all) << part_text(part);
    const auto first = static_cast<std::int64_t>(random() % static_cast<unsigned>(rows));
    const std::int64_t count =
        1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(rows - first));
    EXPECT_EQ(read(reader, first, count),
              Elements(all.begin() + first * row, all.begin() + (first + count) * row))
        << part_text(part) << " from " << first;
}

TEST(DatasetPart, ReadsAnyRowsOfAnySelection) {
    std::mt19937 random(2);
    for (const std::vector<std::int64_t>& narrow : shapes) {
        for (int trial = 0; trial < 120; ++trial) {
            std::vector<std::int64_t> shape = narrow;
            if (trial % 4 == 0 && shape.size() > 1) {
                shape.back() = 601; // rows that are not short
            }
            const DatasetPart part = random_selection(shape, random);
            Calls calls;
            const auto reader = open_part(std::make_unique<IndexRows>(shape, &calls), part);
            ASSERT_EQ(reader->info().array.shape, part.shape());
            check_rows(*reader, elements_of(shape, part), part, random);
        }
    }
}

TEST(DatasetPart, OfAPartIsAPart) {
    std::mt19937 random(3);
    for (const std::vector<std::int64_t>& shape : shapes) {
        for (int trial = 0; trial < 120; ++trial) {
            const DatasetPart outer = random_selection(shape, random);
            DatasetPart inner = random_selection(outer.shape(), random);
            if (outer.drops(0) && !inner.frames.empty()) {
                inner.frames.clear(); // of another axis than the dataset's first: evenly apart
                inner.count[0] = 1;
            }
            const Elements of_outer = elements_of(shape, outer);
            Elements expected;
            for (const std::int64_t index : elements_of(outer.shape(), inner)) {
                expected.push_back(of_outer[static_cast<std::size_t>(index)]);
            }
            const DatasetPart both = part_of_part(outer, inner);
            EXPECT_EQ(elements_of(shape, both), expected)
                << part_text(outer) << ", " << part_text(inner);
            EXPECT_EQ(both.shape(), inner.shape());
        }
    }
}

TEST(DatasetPart, HasATextThatTellsSelectionsApart) {
    DatasetPart part{{0, 2, 1}, {4, 1, 3}, {}, {1, 1, 2}, {1}};
    EXPECT_EQ(part_text(part), "[0:4, 2, 1:6:2]");
    part.dropped.clear();
    EXPECT_EQ(part_text(part), "[0:4, 2:3, 1:6:2]");
}

TEST(DatasetPart, HasTheAxesThatItTakes) {
    Axes axes = axes_of_letters("czyx");
    axes.channels = {"a", "b", "c"};
    axes.each[1] = {"z", "um", 2.0, 10.0};
    axes.each[3].spacing = 0.5;
    const DatasetPart part{{0, 3, 0, 1}, {2, 2, 1, 4}, {0, 2}, {1, 1, 1, 3}, {2}};
    const Axes found = axes_of_part(axes, part);
    EXPECT_EQ(found.names(), "c, z, x");
    EXPECT_EQ(found.channels, (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(found.each[1], (Axis{"z", "um", 2.0, 16.0}));
    EXPECT_EQ(found.each[2].spacing, 1.5);
    axes.sform = {1, {{0, 0, 0}, {0, 0, 2}, {0, 3, 0}, {0.5, 0, 0}}, {}, {7, 8, 9}};
    const Axes plane = axes_of_part(axes, {{0, 4, 1, 0}, {3, 1, 4, 7}, {}, {}, {1}});
    EXPECT_EQ(plane.names(), "c, y, x");
    EXPECT_EQ(plane.sform->origin, (Affine::Vector{7, 8 + 3, 9 + 8}));
    EXPECT_EQ(plane.sform->beside, (std::vector<Affine::Vector>{{0, 0, 2}}));
    EXPECT_EQ(fitting_axes(axes_of_letters("zz"), std::vector<std::int64_t>{2, 2}).names(), "z, ?");
    EXPECT_FALSE(fitting_axes(axes, std::vector<std::int64_t>{3, 5, 7}).known());
}

TEST(DatasetPart, KeepsWhatIsKnownOfTheChannelWhoseAxisItDrops) {
    Axes axes = axes_of_letters("cyx");
    axes.channels = {"a", "b", "c"};
    axes.colours = {"FF0000", "00FF00", "0000FF"};
    axes.emissions = {"461", "509.5", "670"};
    const Axes one = axes_of_part(axes, {{1, 0, 0}, {1, 4, 7}, {}, {}, {0}});
    EXPECT_EQ(one.names(), "y, x");
    EXPECT_EQ(one.channels, (std::vector<std::string>{"b"}));
    EXPECT_EQ(one.colours, (std::vector<std::string>{"00FF00"}));
    EXPECT_EQ(one.emissions, (std::vector<std::string>{"509.5"}));
    EXPECT_TRUE(one.excitations.empty());
    EXPECT_EQ(fitting_axes(one, std::vector<std::int64_t>{4, 7}), one);
    EXPECT_EQ(axes_of_part(one, {{1, 0}, {2, 7}}).emissions, one.emissions);
    axes.each[0].name = "y";
    axes.each[1].name = "c"; // of four elements, which these are not the channels of
    EXPECT_TRUE(fitting_axes(axes, std::vector<std::int64_t>{3, 4, 7}).channels.empty());
}

TEST(DatasetPart, ReadsAnyRowsOfAnyPart) {
    std::mt19937 random(1);
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{17}, {7, 11}, {5, 3, 7}, {9, 1, 4}, {3, 4, 2, 5}, {1, 1, 1}}) {
        for (int trial = 0; trial < 60; ++trial) {
            const DatasetPart part = random_part(shape, random);
            Calls calls;
            const auto reader = open_part(std::make_unique<IndexRows>(shape, &calls), part);
            ASSERT_EQ(reader->info().array.shape, part.count);
            EXPECT_FALSE(reader->info().offset.has_value());
            check_rows(*reader, elements_of(shape, part), part, random);
        }
    }
}

TEST(DatasetPart, ReadsRunsOfColumns) {
    const std::vector<std::int64_t> shape = {6, 5, 9};
    const DatasetPart part{{0, 1, 2}, {3, 4, 6}, {1, 2, 5}};
    const Elements all = elements_of(shape, part);
    Calls calls;
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
    Calls calls;
    const auto reader =
        open_part(std::make_unique<IndexRows>(std::vector<std::int64_t>{9, 4, 3}, &calls),
                  {{0, 0, 0}, {5, 4, 3}, {2, 3, 4, 5, 8}});
    (void)read(*reader, 0, 20);
    EXPECT_EQ(calls, (Calls{{8, 16, 1, 0, 0, -1}, {32, 4, 1, 0, 0, -1}})); // 2 to 5, and 8
}

/// The calls that read rows [first, first + rows) of a part, and whether they gave its elements.
Calls calls_of(const std::vector<std::int64_t>& shape, const DatasetPart& part, std::int64_t first,
               std::int64_t rows) {
    Calls calls;
    const auto reader = open_part(std::make_unique<IndexRows>(shape, &calls), part);
    const Elements all = elements_of(shape, part);
    const std::int64_t row = row_elements(reader->info().array);
    EXPECT_EQ(read(*reader, first, rows),
              Elements(all.begin() + first * row, all.begin() + (first + rows) * row));
    return calls;
}

TEST(DatasetPart, ReadsEvenlySpacedRunsInOneCall) {
    // Rows 1 and 2 of frames of 5, of them columns 2 to 4.
    EXPECT_EQ(calls_of({4, 5, 9}, {{0, 1, 2}, {4, 2, 3}}, 0, 8), (Calls{{1, 2, 4, 5, 2, 3}}));
    EXPECT_EQ(calls_of({4, 5, 9}, {{0, 1, 2}, {4, 2, 3}}, 1, 6),
              (Calls{{2, 1, 1, 0, 2, 3}, {6, 2, 2, 5, 2, 3}, {16, 1, 1, 0, 2, 3}}));
    EXPECT_EQ(calls_of({9, 1, 4}, {{0, 0, 0}, {4, 1, 4}, {1, 3, 5, 7}}, 0, 4),
              (Calls{{1, 1, 4, 2, 0, 4}}));
    EXPECT_EQ(calls_of({9, 1, 4}, {{0, 0, 0}, {4, 1, 4}, {1, 3, 5, 8}}, 0, 4),
              (Calls{{1, 1, 3, 2, 0, 4}, {8, 1, 1, 0, 0, -1}}));
    EXPECT_EQ(calls_of({9, 1, 4}, {{0, 0, 0}, {5, 1, 4}, {2, 3, 4, 5, 8}}, 0, 5),
              (Calls{{2, 4, 1, 0, 0, -1}, {8, 1, 1, 0, 0, -1}}));
    EXPECT_EQ(calls_of({9, 4}, {{2, 0}, {5, 4}}, 1, 3), (Calls{{3, 3, 1, 0, 0, -1}}));
}

TEST(DatasetPart, ReadsElementsOfOneAxis) {
    EXPECT_EQ(calls_of({17}, {{3}, {9}}, 2, 5), (Calls{{5, 5, 1, 0, 0, -1}}));
    EXPECT_EQ(calls_of({17}, {{0}, {5}, {1, 2, 5, 6, 16}}, 0, 5),
              (Calls{{1, 2, 1, 0, 0, -1}, {5, 2, 1, 0, 0, -1}, {16, 1, 1, 0, 0, -1}}));
    EXPECT_EQ(calls_of({17}, {{0}, {5}, {1, 4, 7, 10, 12}}, 0, 5).size(), 5U);
    // Its one run of one row has them as columns.
    Calls calls;
    const auto reader =
        open_part(std::make_unique<IndexRows>(std::vector<std::int64_t>{17}, &calls), {{3}, {9}});
    Elements found(4);
    reader->read_runs({0, 1, 1, 0, 2, 4}, reinterpret_cast<std::byte*>(found.data()));
    EXPECT_EQ(found, (Elements{5, 6, 7, 8}));
    EXPECT_EQ(calls, (Calls{{5, 4, 1, 0, 0, -1}}));
}

TEST(DatasetPart, ReadsRunsThatGoBackOrStay) {
    const std::vector<std::int64_t> shape = {5, 6};
    const DatasetPart part{{1, 1}, {4, 4}};
    for (const std::int64_t stride : {-2, -1, 0, 1}) {
        Calls calls;
        const auto reader = open_part(std::make_unique<IndexRows>(shape, &calls), part);
        Elements found(4);
        reader->read_runs({2, 1, 2, stride, 1, 2}, reinterpret_cast<std::byte*>(found.data()));
        const std::int64_t one = 3 * 6 + 2; // row 3 of the dataset, column 2
        const std::int64_t other = one + stride * 6;
        EXPECT_EQ(found, (Elements{one, one + 1, other, other + 1})) << stride;
    }
}

TEST(DatasetPart, KnowsItsAxesWhateverItsExtent) {
    Axes axes = axes_of_letters("zyx");
    axes.each[0].spacing = 2;
    const std::int64_t extent = std::int64_t{1} << 60; // a list of its numbers fits no memory
    const Axes found = axes_of_part(axes, {{5, 0, 0}, {extent, 4, 5}, {}, {3, 1, 1}});
    EXPECT_EQ(found.each[0], (Axis{"z", "", 6.0, 10.0}));
}

TEST(DatasetPart, HasItsShareOfTheStoredBytes) {
    DatasetInfo info;
    info.array = {ElementType::uint16, {10, 30}};
    info.stored_bytes = 1000;
    info.offset = 77;
    const DatasetInfo of_part = info_of_part(info, {{1, 2}, {5, 6}});
    EXPECT_EQ(of_part.stored_bytes, 100);
    EXPECT_EQ(of_part.array.shape, (std::vector<std::int64_t>{5, 6}));
    EXPECT_FALSE(of_part.offset);
}

TEST(DatasetPart, HasATextThatTellsPartsApart) {
    EXPECT_EQ(part_text({{0, 200}, {64, 1600}}), "[0:64, 200:1800]");
    EXPECT_EQ(part_text({{0, 0}, {3, 5}, {0, 2, 4}}), "[0:5:2, 0:5]");
    EXPECT_EQ(part_text({{0, 0}, {1, 5}, {7}}), "[7:8, 0:5]");
    EXPECT_EQ(part_text({{0}, {2}, {2, 5}}), "[2:6:3]");
    EXPECT_EQ(part_text({{0}, {3}, {2, 5, 8}}), "[2:9:3]");
    EXPECT_EQ(part_text({{0}, {3}, {2, 3, 4}}), "[2:5]");
    const std::string uneven = part_text({{0, 0}, {3, 5}, {0, 2, 5}});
    // FNV-1a with the numbers in place of bytes.
    EXPECT_EQ(uneven, "[3 frames from 0 to 5, checksum 15656272727747682534, 0:5]");
    EXPECT_NE(uneven, part_text({{0, 0}, {3, 5}, {0, 3, 5}}));
}

} // namespace
} // namespace runner
