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

std::vector<double> scan(const Shape& shape, std::uint64_t seed, double counts, std::int64_t first,
                         std::int64_t count) {
    CpuQueue queue(2);
    std::vector<double> values(static_cast<std::size_t>(count));
    fill_scan(queue, ElementType::float64, shape, seed, counts, first, count,
              reinterpret_cast<std::byte*>(values.data()));
    return values;
}

TEST(Scan, ShadowIsTheDensityAlongTheLine) {
    // Sums of the phantom's values along lines; they are jumps, so many steps are needed.
    constexpr int steps = 20000;
    for (const double angle : {0.0, 0.4, 1.3, 2.9}) {
        for (const double s : {-0.6, -0.1, 0.0, 0.35}) {
            const double cosine = std::cos(angle);
            const double sine = std::sin(angle);
            double sum = 0;
            for (int i = 0; i < steps; ++i) {
                const double t = 2.0 * (i + 0.5) / steps - 1;
                sum += phantom_value(0.1, s * sine + t * cosine, s * cosine - t * sine);
            }
            EXPECT_NEAR(phantom_shadow(cosine, sine, 0.1, s), sum * 2 / steps, 1e-3)
                << angle << " " << s;
        }
    }
    EXPECT_EQ(phantom_shadow(1, 0, 0.95, 0), 0);
}

TEST(Scan, BeginsWithDarkAndFlatFrames) {
    EXPECT_EQ(scan_keys(3), (std::vector<std::int32_t>{2, 1, 0}));
    const std::vector<std::int32_t> keys = scan_keys(45);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), 2), 2);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), 1), 2);
    EXPECT_EQ(keys.back(), 0);
}

TEST(Scan, HasTheMeansOfItsFramesAndDeadPixels) {
    const Shape shape = {60, 50, 64};
    const std::int64_t frame = 50 * 64;
    const auto values = scan(shape, 9, 1000, 0, 60 * frame);
    const auto mean = [&](std::int64_t first, std::int64_t last) {
        double sum = 0;
        for (std::int64_t i = first * frame; i < last * frame; ++i) {
            sum += values[static_cast<std::size_t>(i)];
        }
        return sum / static_cast<double>((last - first) * frame);
    };
    EXPECT_NEAR(mean(0, 3), 30, 0.5);
    // Means of gain 1 and of 1 − 0.4 · (x² + y²), and a pixel in a thousand less.
    EXPECT_NEAR(mean(3, 6), (30 + 1000 * (1 - 0.8 / 3)) * 0.999, 3);
    EXPECT_LT(mean(6, 60), mean(3, 6));
    int dead = 0;
    for (std::int64_t pixel = 0; pixel < frame; ++pixel) {
        bool always = true;
        for (std::int64_t i = 0; i < 60; ++i) {
            always = always && values[static_cast<std::size_t>(i * frame + pixel)] == 0;
        }
        dead += always ? 1 : 0;
    }
    EXPECT_GT(dead, 0);
    EXPECT_LT(dead, 15);                                              // of 3200, 3.2 on average
    EXPECT_GT(*std::max_element(values.begin(), values.end()), 4000); // struck
    for (const std::int64_t first : {std::int64_t{1}, 3 * frame - 5, 7 * frame}) {
        const auto piece = scan(shape, 9, 1000, first, 4000);
        EXPECT_TRUE(std::equal(piece.begin(), piece.end(), values.begin() + first));
    }
}

} // namespace
} // namespace runner
