// SPDX-License-Identifier: BSD-3-Clause
// Levels of elements of which some are no values, worked out by hand.
#include "io/levels/count_extremes.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/levels/reduce_blocks.hpp"
#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Where an element is invalid.
constexpr int none = -1;

/// Blocks of 2 × 2, of which those at the end are cut, in rows of five.
constexpr Blocks blocks{{1, 3, 5}, {1, 2, 2}};
constexpr std::array<int, 15> image = {1,    2,    none, 4,    none, //
                                       4,    none, none, 5,    none, //
                                       none, none, 7,    none, 9};

template <class T> std::vector<T> with(const std::vector<double>& values, T invalid) {
    std::vector<T> elements(values.size());
    std::transform(values.begin(), values.end(), elements.begin(),
                   [&](double each) { return each == none ? invalid : static_cast<T>(each); });
    return elements;
}

template <class T>
std::vector<T> reduced(const std::vector<T>& elements, const Blocks& of, Downsample how,
                       double invalid) {
    const auto counts = of.counts();
    std::vector<T> made(static_cast<std::size_t>(counts[0] * counts[1] * counts[2]));
    reduce_blocks({element_type_of<T>(), {of.extents.begin(), of.extents.end()}}, of,
                  {how, invalid}, reinterpret_cast<const std::byte*>(elements.data()),
                  reinterpret_cast<std::byte*>(made.data()));
    return made;
}

/// The same elements; each NaN is one.
template <class T> void expect_same(const std::vector<T>& made, const std::vector<T>& wanted) {
    ASSERT_EQ(made.size(), wanted.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
        EXPECT_TRUE(made[i] == wanted[i] || (made[i] != made[i] && wanted[i] != wanted[i]))
            << "element " << i << ": " << +made[i] << ", not " << +wanted[i];
    }
}

/// `in`: an invalid element of the image; `out`: that of a level.
template <class T> void check(double invalid, T in, T out) {
    const std::vector<T> elements = with<T>({image.begin(), image.end()}, in);
    const bool is_real = std::is_floating_point_v<T>;
    const double third = is_real ? 7.0 / 3.0 : 2; // of 1, 2 and 4
    const double half = is_real ? 4.5 : 4;        // of 4 and 5, to even
    const auto expect = [&](Downsample how, const std::vector<double>& wanted, T invalid_one) {
        SCOPED_TRACE(static_cast<int>(how));
        expect_same(reduced(elements, blocks, how, invalid), with(wanted, invalid_one));
    };
    expect(Downsample::mean, {third, half, none, none, 7, 9}, out);
    expect(Downsample::median, {2, half, none, none, 7, 9}, out);
    expect(Downsample::max, {4, 5, none, none, 7, 9}, out);
    expect(Downsample::mode, {1, 4, none, none, 7, 9}, out);
    expect(Downsample::nearest, {1, none, none, none, 7, 9}, in);
}

TEST(InvalidLevels, OfIntegersLeaveTheNumberOut) {
    check<std::int8_t>(-128, -128, -128);
    check<std::uint8_t>(255, 255, 255);
    check<std::int16_t>(0, 0, 0);
    check<std::uint16_t>(65535, 65535, 65535);
    check<std::int32_t>(-9, -9, -9);
    check<std::uint32_t>(3, 3, 3);
    check<std::int64_t>(0x1p63, INT64_MAX, INT64_MAX); // as nearly as float64 has it
    check<std::int64_t>(-0x1p63, INT64_MIN, INT64_MIN);
    check<std::uint64_t>(0x1p64, UINT64_MAX, UINT64_MAX);
}

TEST(InvalidLevels, OfFloatsLeaveNanOutToo) {
    check<float>(nan, std::nanf(""), std::nanf(""));
    check<double>(nan, nan, nan);
    check<float>(-9999, -9999, std::nanf(""));
    check<float>(-9999, std::nanf(""), std::nanf(""));
    check<double>(-1e30, -1e30, nan);
    check<double>(-std::numeric_limits<double>::infinity(),
                  -std::numeric_limits<double>::infinity(), nan);
}

TEST(InvalidLevels, OfFloat16) {
    // 1, 2, NaN and 4, then -9 and NaN
    const std::vector<Half> elements = {{0x3c00}, {0x4000}, {0xc880}, {0x7e01}, {0x4400}, {0xc880}};
    std::array<Half, 2> made{};
    const ArrayInfo array{ElementType::bytes2, {2, 3}, {float16_text, {}}};
    for (const auto& [how, bits] :
         {std::pair(Downsample::mean, 0x40ab), std::pair(Downsample::median, 0x4000),
          std::pair(Downsample::max, 0x4400), std::pair(Downsample::mode, 0x3c00)}) {
        reduce_blocks(array, {{1, 2, 3}, {1, 2, 2}}, {how, -9},
                      reinterpret_cast<const std::byte*>(elements.data()),
                      reinterpret_cast<std::byte*>(made.data()));
        EXPECT_EQ(made[0].bits, bits);
        EXPECT_EQ(made[1].bits, 0x7e00);
    }
}

TEST(InvalidLevels, ANumberThatIsNoElementLeavesNothingOut) {
    for (const double number : {nan, -1.0, 256.0, 2.5}) {
        expect_same(reduced<std::uint8_t>({2, 8, 0, 255}, {{1, 2, 2}, {1, 2, 2}},
                                          Downsample::median, number),
                    std::vector<std::uint8_t>{5}); // of three others 2 or 8
    }
}

/// Sums beyond 64 bits, of values next to the invalid one.
TEST(InvalidLevels, MeansOfLongIntegersAreExact) {
    constexpr std::int64_t most = INT64_MAX;
    expect_same(reduced<std::int64_t>({most - 1, most, most - 2, most - 2}, {{1, 1, 4}, {1, 1, 4}},
                                      Downsample::mean, 0x1p63),
                std::vector<std::int64_t>{most - 2}); // by 5 / 3 less than most
}

/// Each level is made of the image, also where means of values alone are made of sums.
TEST(InvalidLevels, LeaveElementsOutOfEachLevel) {
    const ArrayInfo array{ElementType::uint16, {4, 4}};
    const std::vector<std::uint16_t> elements = {9, 1, 9, 9, //
                                                 9, 9, 9, 9, //
                                                 4, 8, 9, 2, //
                                                 6, 6, 9, 9};
    std::vector<CoarserLevel> levels(2);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::int64_t factor = i == 0 ? 2 : 4;
        levels[i].factors = {1, factor, factor};
        levels[i].dataset.array = {array.type, {4 / factor, 4 / factor}};
        levels[i].dataset.invalid_value = 9;
    }
    const LevelSweep sweep(array, levels, {1, 1, 1});
    ASSERT_EQ(sweep.regions(), 1);
    std::vector<std::vector<std::uint16_t>> made(2);
    LevelMaker(sweep).make(
        sweep.region(0),
        [&](const VolumeBox& /*box*/, std::byte* to) {
            std::copy_n(reinterpret_cast<const std::byte*>(elements.data()), 32, to);
        },
        [&](std::size_t level, const VolumeBox& box, const std::byte* from) {
            const auto* const first = reinterpret_cast<const std::uint16_t*>(from);
            made[level].assign(first, first + box.elements());
        });
    expect_same(made[0], std::vector<std::uint16_t>{1, 9, 6, 2});
    expect_same(made[1], std::vector<std::uint16_t>{4}); // 27 / 6 is 4.5; the mean of means is 3
}

TEST(InvalidLevels, ExtremesLeaveTheGreatestLongIntegerOut) {
    const std::vector<std::int64_t> elements = {INT64_MAX, 5, -3};
    const std::optional<ValueRange> found = extremes_of(
        {ElementType::int64, {3}}, reinterpret_cast<const std::byte*>(elements.data()), 3, 0x1p63);
    EXPECT_EQ(found, (ValueRange{std::int64_t{-3}, std::int64_t{5}}));
}

} // namespace
} // namespace runner
