// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/patterns/patterns.hpp"

#include "kernels/sand/sand_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// What fill_pattern() writes for so many elements, and nothing behind them.
std::vector<std::byte> bytes_of(Pattern pattern, ElementType type,
                                const std::vector<std::int64_t>& shape, std::uint64_t seed,
                                std::int64_t first, std::int64_t count) {
    CpuQueue queue(3);
    constexpr std::byte untouched{0xa7};
    const auto size = static_cast<std::size_t>(count * size_of(type));
    std::vector<std::byte> bytes(size + 64, untouched);
    fill_pattern(queue, pattern, type, shape, seed, first, count, bytes.data());
    EXPECT_EQ(std::count(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(), untouched),
              64);
    bytes.resize(size);
    return bytes;
}

template <class T>
std::vector<T> values(Pattern pattern, const std::vector<std::int64_t>& shape,
                      std::uint64_t seed = 1) {
    const auto count =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const auto bytes = bytes_of(pattern, element_type_of<T>(), shape, seed, 0, count);
    std::vector<T> list(static_cast<std::size_t>(count));
    std::memcpy(list.data(), bytes.data(), bytes.size());
    return list;
}

TEST(Patterns, HaveNames) {
    EXPECT_EQ(pattern_named("noise"), Pattern::noise);
    EXPECT_EQ(pattern_named("gradient"), Pattern::gradient);
    EXPECT_FALSE(pattern_named("nois"));
    EXPECT_EQ(pattern_names(), "noise, index, gradient, sample-1, sample-2, sample-3, sample-4, "
                               "sand-noise, phantom, xray, "
                               "tomo-scan, phase-scan, shadows");
}

TEST(Patterns, SamplesHaveAShapeOfTheirOwn) {
    using Shape = std::vector<std::int64_t>;
    EXPECT_EQ(usual_shape(Pattern::sample_1), (Shape{1, 400, 400}));
    EXPECT_EQ(usual_shape(Pattern::sample_2), (Shape{1, 400, 400}));
    EXPECT_EQ(usual_shape(Pattern::sample_3), (Shape{1, 1080, 1920}));
    EXPECT_EQ(usual_shape(Pattern::sample_4), (Shape{1, 2160, 3840}));
    EXPECT_FALSE(usual_shape(Pattern::sand_noise));
    EXPECT_FALSE(usual_shape(Pattern::index));
    EXPECT_TRUE(is_sand_pattern(Pattern::sample_1));
    EXPECT_TRUE(is_sand_pattern(Pattern::sand_noise));
    EXPECT_FALSE(is_sand_pattern(Pattern::gradient));
}

TEST(SandNoise, IsNoiseCutIntoMaterials) {
    const std::vector<std::int64_t> shape = {3, 1001};
    const auto noise = values<std::uint8_t>(Pattern::noise, shape, 9);
    const auto cells = values<std::uint8_t>(Pattern::sand_noise, shape, 9);
    std::array<int, 4> counts{};
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const int byte = noise[i];
        EXPECT_EQ(cells[i], byte < 154 ? 0 : byte < 192 ? 1 : byte < 248 ? 2 : 3);
        ++counts.at(cells[i]);
    }
    EXPECT_NEAR(counts[0], 0.6 * 3003, 150);
    EXPECT_NEAR(counts[2], 0.22 * 3003, 120);
    EXPECT_GT(counts[3], 30);
}

/// The documented rule, read off the header.
std::uint64_t splitmix_word(std::uint64_t seed, std::uint64_t word) {
    const auto finalise = [](std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    };
    return finalise(finalise(seed) + (word + 1) * 0x9e3779b97f4a7c15U);
}

TEST(Samples, RepeatAlongTheLastTwoAxesAndAreCut) {
    CpuQueue queue(3);
    const SandSample sample(2);
    const auto cells = values<std::uint16_t>(Pattern::sample_2, {2, 805, 1203});
    std::vector<std::uint8_t> row(400);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i % 1203 == 0) {
            sample.fill_row(static_cast<std::int64_t>(i / 1203 % 805 % 400), 0, 400, row.data());
        }
        ASSERT_EQ(cells[i], row[i % 1203 % 400]) << i;
    }
    EXPECT_EQ(values<std::uint16_t>(Pattern::sample_2, {805, 1203}),
              std::vector<std::uint16_t>(cells.begin(), cells.begin() + 805 * 1203));
    // Along one axis all is the first row, whatever lies before the extent in memory.
    const std::array<std::int64_t, 2> extents = {0, 500};
    std::vector<float> line(500, -1);
    fill_pattern(queue, Pattern::sample_2, ElementType::float32, std::span(extents).subspan(1), 0,
                 0, 500, reinterpret_cast<std::byte*>(line.data()));
    sample.fill_row(0, 0, 400, row.data());
    for (std::size_t i = 0; i < 500; ++i) {
        ASSERT_EQ(line[i], row[i % 400]) << i;
    }
}

TEST(Patterns, AnyPieceIsThatPieceOfTheWhole) {
    const std::vector<std::int64_t> shape = {3, 211, 317}; // more than three blocks
    const std::int64_t all = 3 * 211 * 317;
    for (const auto& [name, pattern] : all_patterns) {
        for (const ElementType type : all_element_types) {
            const auto whole = bytes_of(pattern, type, shape, 5, 0, all);
            for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 1},
                                               {1, 7},
                                               {316, 2},
                                               {317 * 210 + 5, 700},
                                               {1, 700},
                                               {317, 700},
                                               {65535, 3},
                                               {5, 65535},
                                               {5, 65536},
                                               {5, 65537},
                                               {3, all - 3},
                                               {all - 1, 1}}) {
                const auto piece = bytes_of(pattern, type, shape, 5, first, count);
                EXPECT_EQ(
                    std::memcmp(piece.data(), whole.data() + first * size_of(type), piece.size()),
                    0)
                    << name << " " << name_of(type) << " from " << first << ", " << count;
            }
        }
    }
}

TEST(Noise, IsTheDocumentedStream) {
    // splitmix64 of seed 0 starts with this number (Vigna's reference implementation).
    EXPECT_EQ(splitmix_word(0, 0), 0xe220a8397b1dcdafU);
    const auto wide = values<std::uint64_t>(Pattern::noise, {5}, 9);
    const auto narrow = values<std::uint16_t>(Pattern::noise, {20}, 9);
    const auto bytes = values<std::uint8_t>(Pattern::noise, {40}, 9);
    const auto doubles = values<double>(Pattern::noise, {5}, 9);
    const auto floats = values<float>(Pattern::noise, {10}, 9);
    for (std::size_t i = 0; i < 5; ++i) {
        const std::uint64_t word = splitmix_word(9, i);
        EXPECT_EQ(wide[i], word);
        EXPECT_EQ(narrow[4 * i + 2], (word >> 32) & 0xffff);
        for (std::size_t place = 0; place < 8; ++place) {
            EXPECT_EQ(bytes[8 * i + place], (word >> (8 * place)) & 0xff);
        }
        EXPECT_EQ(doubles[i], std::ldexp(static_cast<double>(word >> 11), -53));
        EXPECT_EQ(floats[2 * i + 1], std::ldexp(static_cast<float>(word >> 40), -24));
    }
}

TEST(Noise, IsUniformAndDependsOnTheSeed) {
    const auto a = values<double>(Pattern::noise, {100, 1000}, 1);
    const auto b = values<double>(Pattern::noise, {100, 1000}, 2);
    double sum = 0;
    double product = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_GE(a[i], 0);
        ASSERT_LT(a[i], 1);
        sum += a[i];
        product += (a[i] - 0.5) * (b[i] - 0.5);
    }
    // Five standard deviations: 0.289 / sqrt(n) and (1/12) / sqrt(n).
    EXPECT_NEAR(sum / 1e5, 0.5, 5 * 0.289 / std::sqrt(1e5));
    EXPECT_NEAR(product / 1e5, 0, 5 / 12.0 / std::sqrt(1e5));
    std::vector<int> seen(256);
    for (const std::uint8_t value : values<std::uint8_t>(Pattern::noise, {256, 100})) {
        ++seen[value];
    }
    for (const int times : seen) {
        EXPECT_NEAR(times, 100, 60);
    }
}

TEST(Index, CountsAndWraps) {
    EXPECT_EQ(values<float>(Pattern::index, {2, 3}), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    const auto bytes = values<std::int8_t>(Pattern::index, {3, 100});
    EXPECT_EQ(bytes[127], 127);
    EXPECT_EQ(bytes[128], -128);
    EXPECT_EQ(bytes[299], 43);
    const auto far =
        bytes_of(Pattern::index, ElementType::uint32, {1LL << 40}, 0, (1LL << 32) + 7, 1);
    EXPECT_EQ(static_cast<int>(far[0]), 7);
}

TEST(Gradient, RunsAlongTheDiagonalOfEveryFrame) {
    EXPECT_EQ(values<double>(Pattern::gradient, {2, 2, 4}),
              (std::vector<double>{0, .25, .5, .75, .25, .5, .75, 1, //
                                   0, .25, .5, .75, .25, .5, .75, 1}));
    EXPECT_EQ(values<std::uint8_t>(Pattern::gradient, {2, 3}),
              (std::vector<std::uint8_t>{0, 85, 170, 85, 170, 255}));
    EXPECT_EQ(values<std::int8_t>(Pattern::gradient, {3}),
              (std::vector<std::int8_t>{-128, -1, 127}));
    EXPECT_EQ(values<std::uint64_t>(Pattern::gradient, {3, 1}),
              (std::vector<std::uint64_t>{0, 0x7fffffffffffffffU, 0xffffffffffffffffU}));
    EXPECT_EQ(values<std::int64_t>(Pattern::gradient, {1, 2}).back(),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(values<float>(Pattern::gradient, {1, 1}), std::vector<float>{0});
    EXPECT_EQ(values<std::int16_t>(Pattern::gradient, {2, 1, 1}),
              (std::vector<std::int16_t>{-32768, -32768}));
    // The diagonal of 5 × 2 has five steps of 51.
    EXPECT_EQ(values<std::uint8_t>(Pattern::gradient, {1, 5, 2}),
              (std::vector<std::uint8_t>{0, 51, 51, 102, 102, 153, 153, 204, 204, 255}));
}

} // namespace
} // namespace runner
