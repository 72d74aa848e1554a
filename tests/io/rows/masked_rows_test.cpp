// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/masked_rows.hpp"

#include "base/error.hpp"
#include "io/rows/row_geometry.hpp"
#include "tests/io/scratch_folder.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

/// Elements of an array in memory.
template <class T> class MadeRows final : public RowReader {
  public:
    MadeRows(ElementType type, Shape shape, std::vector<T> elements)
        : elements_(std::move(elements)) {
        info_.array = {type, std::move(shape)};
        info_.offset = 0;
    }
    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t row = row_elements(info_.array);
        std::memcpy(to, elements_.data() + first * row,
                    static_cast<std::size_t>(rows * row) * sizeof(T));
    }

  private:
    DatasetInfo info_;
    std::vector<T> elements_;
};

MaskedElement mark_of(std::uint16_t number, MaskedElement::Equal equal) {
    MaskedElement mark{std::vector<std::byte>(sizeof(number)), equal, "a.h5:/x", "65535"};
    std::memcpy(mark.bytes.data(), &number, sizeof(number));
    return mark;
}

std::uint16_t value_at(std::int64_t i) { return static_cast<std::uint16_t>(i % 60000); }

/// The elements of runs, whose masked ones are 65535.
std::vector<std::uint16_t> expected_runs(const RowRuns& runs, const Shape& shape,
                                         const std::vector<bool>& masked) {
    std::vector<std::uint16_t> all;
    for (std::int64_t i = 0; i < runs.runs * runs.rows; ++i) {
        const std::int64_t row = runs.first + i / runs.rows * runs.stride + i % runs.rows;
        for (std::int64_t column = 0; column < runs.columns; ++column) {
            const std::int64_t element = row * shape.back() + runs.first_column + column;
            all.push_back(masked[static_cast<std::size_t>(element)] ? 65535 : value_at(element));
        }
    }
    return all;
}

/// A dataset, flags that repeat and a mask that is read beside it.
struct Example {
    Shape shape;
    std::int64_t flags = 0; ///< 0: none
    bool mask = false;
};

void expect_marks(const Example& example, const std::vector<RowRuns>& reads) {
    const ArrayInfo array{ElementType::uint16, example.shape};
    const std::int64_t count = byte_count(array) / 2;
    std::vector<std::uint16_t> elements;
    std::vector<bool> masked;
    std::vector<std::int32_t> mask;
    auto flags = example.flags == 0
                     ? nullptr
                     : std::make_shared<MaskFlags>(static_cast<std::size_t>(example.flags));
    for (std::int64_t i = 0; i < example.flags; ++i) {
        (*flags)[static_cast<std::size_t>(i)] = i % 5 == 1 ? 1 : 0;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        elements.push_back(value_at(i));
        mask.push_back(example.mask && i % 7 == 3 ? 1 << 16 : 0);
        masked.push_back(
            mask.back() != 0 ||
            (flags != nullptr && (*flags)[static_cast<std::size_t>(i % example.flags)] != 0));
    }
    for (const int threads : {1, 3}) {
        std::vector<MaskRows> masks;
        if (example.mask) {
            masks.push_back(
                {std::make_unique<MadeRows<std::int32_t>>(ElementType::int32, example.shape, mask),
                 MaskBits::any});
        }
        const auto reader = open_masked_rows(
            std::make_unique<MadeRows<std::uint16_t>>(ElementType::uint16, example.shape, elements),
            flags, std::move(masks), mark_of(65535, MaskedElement::Equal::error), threads);
        EXPECT_FALSE(reader->info().offset); // nobody may read the file past the marks
        for (const RowRuns& runs : reads) {
            const std::vector<std::uint16_t> expected = expected_runs(runs, example.shape, masked);
            std::vector<std::uint16_t> found(expected.size());
            reader->read_runs(runs, reinterpret_cast<std::byte*>(found.data()));
            EXPECT_EQ(found, expected) << runs.first << " " << runs.rows << " " << runs.columns;
            if (example.shape.size() > 1 && runs.runs == 1 &&
                runs.columns == example.shape.back()) {
                reader->read(runs.first, runs.rows, reinterpret_cast<std::byte*>(found.data()));
                EXPECT_EQ(found, expected);
            }
        }
    }
}

TEST(MaskedRows, AreMarkedWhateverIsRead) {
    const std::vector<RowRuns> some = {{0, 24, 1, 0, 0, 10}, {5, 9, 1, 0, 0, 10},
                                       {1, 2, 4, 6, 0, 10},  {3, 1, 5, 4, 2, 5},
                                       {2, 3, 3, 7, 9, 1},   {23, 1, 1, 0, 3, 7}};
    for (const Example& example : {Example{{4, 6, 10}, 60, false},
                                   {{4, 6, 10}, 0, true},
                                   {{4, 6, 10}, 60, true},
                                   {{4, 6, 10}, 240, false}}) {
        expect_marks(example, some);
    }
    expect_marks({{50}, 50, true}, {{0, 1, 1, 0, 0, 50}, {0, 1, 1, 0, 13, 20}});
}

TEST(MaskedRows, MayBeLargerThanAPortion) {
    constexpr std::int64_t portion = 1 << 20;
    expect_marks({{2, portion + 9}, portion + 9, true},
                 {{0, 2, 1, 0, 0, portion + 9}, {0, 1, 2, 1, 7, portion + 2}});
    expect_marks({{1200, 1000}, 0, true}, {{0, 1199, 1, 0, 0, 1000}, {1, 550, 2, 600, 3, 960}});
    expect_marks({{portion + 90}, 0, true}, {{0, 1, 1, 0, 5, portion + 80}});
    expect_marks({{1000, 1000}, 1000, false}, {{0, 1000, 1, 0, 0, 1000}});
}

TEST(MaskedRows, RefuseAValidElementThatIsTheMark) {
    for (const auto equal : {MaskedElement::Equal::invalid, MaskedElement::Equal::error}) {
        std::vector<std::uint16_t> elements(24, 5);
        elements[17] = 65535;
        auto flags = std::make_shared<MaskFlags>(12);
        (*flags)[6] = 1;
        const auto reader = open_masked_rows(std::make_unique<MadeRows<std::uint16_t>>(
                                                 ElementType::uint16, Shape{2, 3, 4}, elements),
                                             flags, {}, mark_of(65535, equal), 1);
        std::vector<std::uint16_t> found(24);
        const auto read = [&] { reader->read(2, 4, reinterpret_cast<std::byte*>(found.data())); };
        if (equal == MaskedElement::Equal::invalid) {
            read();
            EXPECT_EQ(found[9], 65535);
            continue;
        }
        const auto error = error_of(read);
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_NE(error->text().why.find("element [1, 1, 1]"), std::string::npos) << error->what();
    }
}

TEST(MaskFlags, FollowTheBits) {
    MadeRows<std::int32_t> mask(
        ElementType::int32, {5},
        {0, 1 << 15, 1 << 16, std::numeric_limits<std::int32_t>::min(), -1});
    EXPECT_EQ(flags_of(mask, MaskBits::any), (MaskFlags{0, 1, 1, 1, 1}));
    EXPECT_EQ(flags_of(mask, MaskBits::nexus), (MaskFlags{0, 1, 0, 0, 1}));
    MadeRows<double> real(ElementType::float64, {2, 2}, {0.0, -0.0, std::nan(""), 1e-300});
    EXPECT_EQ(flags_of(real, MaskBits::nexus), (MaskFlags{0, 0, 1, 1}));
    EXPECT_EQ(joined_flags({1, 0}, {0, 0, 0, 1}), (MaskFlags{1, 0, 1, 1}));
    EXPECT_EQ(joined_flags({0, 0, 0, 1}, {}), (MaskFlags{0, 0, 0, 1}));
}

} // namespace
} // namespace runner
