// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/patterns/phantom.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

template <class T> std::vector<T> phantom(const Shape& shape, std::int64_t count) {
    CpuQueue queue(2);
    std::vector<T> values(static_cast<std::size_t>(count));
    fill_phantom(queue, element_type_of<T>(), shape, 0, count,
                 reinterpret_cast<std::byte*>(values.data()));
    return values;
}

template <class T>
std::vector<T> xray(const Shape& shape, std::uint64_t seed, double counts, std::int64_t first,
                    std::int64_t count) {
    CpuQueue queue(2);
    std::vector<T> values(static_cast<std::size_t>(count));
    fill_xray(queue, element_type_of<T>(), shape, seed, counts, first, count,
              reinterpret_cast<std::byte*>(values.data()));
    return values;
}

TEST(Phantom, HasTheGreysOfTheHead) {
    EXPECT_EQ(phantom_value(0, 0.99, 0), 0);           // outside
    EXPECT_EQ(phantom_value(0, 0.9, 0), 1);            // skull
    EXPECT_NEAR(phantom_value(0, -0.3, 0), 0.2, 1e-9); // brain
    EXPECT_NEAR(phantom_value(0, 0, 0.22), 0, 1e-9);   // ventricles
    EXPECT_NEAR(phantom_value(0, 0, -0.22), 0, 1e-9);
    EXPECT_NEAR(phantom_value(0, 0.45, 0), 0.3, 1e-9);   // the large tumour
    EXPECT_NEAR(phantom_value(0.25, 0.1, 0), 0.3, 1e-9); // a small one
    EXPECT_EQ(phantom_value(0.9, 0, 0), 0);
    // The ventricles lean outward at the top.
    EXPECT_NEAR(phantom_value(0, 0.28, 0.31), 0, 1e-9);
    EXPECT_NEAR(phantom_value(0, 0.28, 0.13), 0.3, 1e-9);
}

TEST(Phantom, IsFilledByPositionInEveryType) {
    const Shape shape = {5, 6, 7};
    const auto doubles = phantom<double>(shape, 210);
    const auto bytes = phantom<std::uint8_t>(shape, 210);
    const auto wide = phantom<std::int64_t>(shape, 210);
    for (std::int64_t i = 0; i < 210; ++i) {
        const std::int64_t layer = i / 42;
        const double z = (2.0 * static_cast<double>(layer) + 1) / 5 - 1;
        const double y = 1 - (2.0 * static_cast<double>(i / 7 % 6) + 1) / 6;
        const double x = (2.0 * static_cast<double>(i % 7) + 1) / 7 - 1;
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(doubles[at], phantom_value(z, y, x)) << i;
        EXPECT_EQ(bytes[at], std::lround(255 * doubles[at]));
        EXPECT_GE(wide[at], 0);
    }
    // An image is the middle layer.
    EXPECT_EQ(phantom<float>({9, 9}, 81), phantom<float>({1, 9, 9}, 81));
}

TEST(Xray, AnyPieceIsThatPieceOfTheWhole) {
    const Shape shape = {11, 30, 40};
    const auto whole = xray<std::uint16_t>(shape, 3, 500, 0, 13200);
    for (const std::int64_t first : {0, 1, 1199, 4096, 9000}) {
        const auto piece = xray<std::uint16_t>(shape, 3, 500, first, 4000);
        EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + first));
    }
    EXPECT_NE(whole, xray<std::uint16_t>(shape, 4, 500, 0, 13200));
}

TEST(Xray, HasMeanVarianceAndShapeOfPoisson) {
    for (const double counts : {0.5, 3.0, 9.0, 11.0, 40.0, 1000.0, 50000.0}) {
        // The first half of the first half of the layers is past the head's end along z.
        const Shape shape = {400000, 2, 2};
        const std::int64_t n = 200000;
        const auto values = xray<double>(shape, 7, counts, 0, n);
        double sum = 0;
        double squares = 0;
        double cubes = 0;
        for (const double value : values) {
            const double d = value - counts;
            ASSERT_EQ(value, std::floor(value));
            ASSERT_GE(value, 0);
            sum += d;
            squares += d * d;
            cubes += d * d * d;
        }
        const auto all = static_cast<double>(n);
        const double deviation = std::sqrt(counts);
        EXPECT_NEAR(sum / all, 0, 5 * deviation / std::sqrt(all)) << counts;
        EXPECT_NEAR(squares / all / counts, 1, 5 * std::sqrt((2 + 1 / counts) / all)) << counts;
        // The third central moment of a Poisson distribution is its mean.
        EXPECT_NEAR(cubes / all / (deviation * counts), 1 / deviation,
                    5 * std::sqrt((15 + 40 / counts + 1 / (counts * counts)) / all))
            << counts;
    }
}

TEST(Xray, SaturatesAtTheTypesMost) {
    for (const std::uint8_t value : xray<std::uint8_t>({1000, 1, 1}, 1, 5000, 0, 20)) {
        EXPECT_EQ(value, 255);
    }
}

} // namespace
} // namespace runner
