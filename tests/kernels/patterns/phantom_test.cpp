// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kernels/patterns/phantom_reference.hpp"

#include <random>

namespace runner {
namespace {

template <class T> std::vector<T> phantom(const Shape& shape, std::int64_t count) {
    return filled<T>(count, [&](CpuQueue& queue, ElementType type, std::byte* out) {
        fill_phantom(queue, type, shape, 0, count, out);
    });
}

template <class T>
std::vector<T> xray(const Shape& shape, std::uint64_t seed, double counts, std::int64_t first,
                    std::int64_t count) {
    return filled<T>(count, [&](CpuQueue& queue, ElementType type, std::byte* out) {
        fill_xray(queue, type, shape, seed, counts, first, count, out);
    });
}

/// A shape whose first elements are past the head's end along z, so that all photons get through.
const Shape beside_head = {std::int64_t{1} << 40, 1, 1};

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

TEST(Phantom, IsThePublishedTable) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> around(-1.2, 1.2);
    for (const Published& e : published) {
        for (int i = 0; i < 3000; ++i) {
            const double z = e.z + e.half_z * around(random);
            const double y = e.y + e.half_y * around(random);
            const double x = e.x + e.half_x * around(random);
            ASSERT_NEAR(phantom_value(z, y, x), published_value(z, y, x), 1e-12)
                << z << " " << y << " " << x;
        }
    }
    EXPECT_EQ(phantom_value(0.81, 0, 0), 1); // a surface belongs to what it bounds
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
    // A line is the image's middle row, and what is before the last three axes repeats the volume.
    EXPECT_EQ(phantom<float>({51}, 51), phantom<float>({1, 51}, 51));
    EXPECT_NEAR(phantom<double>({9}, 9)[5], 0, 1e-12); // x = 2 / 9, in a ventricle
    const auto volume = phantom<std::uint16_t>({5, 6, 7}, 210);
    const auto volumes = phantom<std::uint16_t>({2, 2, 5, 6, 7}, 840);
    for (std::size_t i = 0; i < 840; ++i) {
        ASSERT_EQ(volumes[i], volume[i % 210]) << i;
    }
}

TEST(Phantom, IsWhollyWhiteInTheSkull) {
    // The middle of the first of 25 rows is at y = 0.96, of the second at 0.88.
    const std::vector<std::int64_t> line = phantom<std::int64_t>({25, 1}, 25);
    EXPECT_EQ(line[0], 0);
    EXPECT_EQ(line[1], std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(phantom<std::uint64_t>({25, 1}, 25)[1], std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(phantom<std::int8_t>({25, 1}, 25)[1], 127);
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

TEST(Xray, DrawsByTheElementsOwnStream) {
    constexpr std::int64_t first = 12345;
    for (const double counts : {0.02, 3.0, 9.5, 10.0, 10.5, 14.0, 25.0, 300.0, 70000.0, 1e9}) {
        const auto values = xray<double>(beside_head, 5, counts, first, 50000);
        for (std::size_t i = 0; i < values.size(); ++i) {
            Stream stream(5, first + static_cast<std::int64_t>(i));
            ASSERT_EQ(values[i], poisson(counts, stream)) << counts << " " << i;
        }
    }
}

TEST(Xray, RefusesDrawsNearTheBoundAsLgammaDoes) {
    // Elements, found by search, that draw a number within 6e-7 of the bound at which it is
    // refused; Stirling's second term is 7e-7.
    for (const std::int64_t element :
         {228429, 892613, 4478546, 6250718, 8511870, 9097635, 9612113, 18776855}) {
        Stream stream(1, element);
        EXPECT_EQ(xray<double>(beside_head, 1, 10, element, 1)[0], poisson(10, stream)) << element;
    }
}

TEST(Xray, HasTheProbabilitiesOfPoisson) {
    constexpr std::int64_t n = 200000;
    for (const double mean : {2.5, 12.0, 30.0}) {
        std::vector<double> seen(200);
        for (const std::uint8_t value : xray<std::uint8_t>(beside_head, 11, mean, 0, n)) {
            ++seen[value];
        }
        for (int k = 0; k < 80; ++k) {
            const double probability = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
            EXPECT_NEAR(seen[static_cast<std::size_t>(k)], n * probability,
                        5 * std::sqrt(n * probability) + 5)
                << mean << " " << k;
        }
    }
}

TEST(Xray, IsDarkerBehindTheHead) {
    const Shape shape = {9, 10, 11};
    const auto values = xray<double>(shape, 8, 600, 0, 990);
    const auto greys = phantom<double>(shape, 990);
    for (std::size_t i = 0; i < values.size(); ++i) {
        Stream stream(8, static_cast<std::int64_t>(i));
        ASSERT_EQ(values[i], poisson(600 * std::exp(-greys[i]), stream)) << i;
    }
}

TEST(Xray, SaturatesAtTheTypesMost) {
    for (const std::uint8_t value : xray<std::uint8_t>({1000, 1, 1}, 1, 5000, 0, 20)) {
        EXPECT_EQ(value, 255);
    }
}

} // namespace
} // namespace runner
