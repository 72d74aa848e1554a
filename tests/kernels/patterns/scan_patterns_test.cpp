// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kernels/patterns/phantom_reference.hpp"

#include <random>

namespace runner {
namespace {

std::vector<double> scan(const Shape& shape, std::uint64_t seed, double counts, std::int64_t first,
                         std::int64_t count) {
    return filled<double>(count, [&](CpuQueue& queue, ElementType type, std::byte* out) {
        fill_scan(queue, type, shape, seed, counts, first, count, out);
    });
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

TEST(Scan, ShadowIsThatOfThePublishedTable) {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> around(-1.1, 1.1);
    for (const Published& e : published) {
        for (int i = 0; i < 500; ++i) {
            const double angle = half_turn * around(random);
            const double z = e.z + e.half_z * around(random);
            const double through = e.x * std::cos(angle) + e.y * std::sin(angle);
            const double s = through + std::max(e.half_x, e.half_y) * around(random);
            ASSERT_NEAR(phantom_shadow(std::cos(angle), std::sin(angle), z, s),
                        published_shadow(angle, z, s), 1e-7)
                << angle << " " << z << " " << s;
        }
    }
}

/// So many dark frames, as many flat ones, then projections.
std::vector<std::int32_t> keys_of(std::int64_t each, std::int64_t frames) {
    std::vector<std::int32_t> keys;
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        keys.push_back(frame < each ? 2 : frame < 2 * each ? 1 : 0);
    }
    return keys;
}

TEST(Scan, BeginsWithDarkAndFlatFrames) {
    EXPECT_EQ(scan_keys(3), (std::vector<std::int32_t>{2, 1, 0}));
    EXPECT_EQ(scan_keys(39), keys_of(1, 39));
    EXPECT_EQ(scan_keys(45), keys_of(2, 45));
    EXPECT_EQ(scan_keys(59), keys_of(2, 59));
    EXPECT_EQ(scan_keys(60), keys_of(3, 60));
}

TEST(Scan, IsWhatTheHeaderSaysOfEachElement) {
    // 1200 elements of each of 40 frames, so that some of each kind are struck, or would be.
    const ScanReference reference{2, 30, 40, 21, 700.3};
    const auto values = scan({40, 30, 40}, reference.seed, reference.counts, 0, 40 * 1200);
    for (std::int64_t i = 0; i < std::ssize(values); ++i) {
        ASSERT_EQ(values[static_cast<std::size_t>(i)],
                  reference.value(i / 1200, i / 40 % 30, i % 40))
            << i;
    }
}

TEST(PhaseScan, IsWhatTheHeaderSaysOfEachElement) {
    // A wavelength of 41.328 pm, so that 200 · 41.328e-12 · 0.04 / (4π · 25e-12) is 1.052.
    constexpr double strength =
        200 * 1.2398419843320026e-9 / 30 * 0.04 / (2 * half_turn * 2 * 25e-12);
    EXPECT_NEAR(phase_scan_beam.strength(), strength, 1e-12);
    const ScanReference reference{1, 34, 40, 5, 900.5, strength};
    const auto values =
        filled<double>(20 * 34 * 40, [&](CpuQueue& queue, ElementType type, std::byte* out) {
            fill_phase_scan(queue, type, Shape{20, 34, 40}, reference.seed, reference.counts, 0,
                            20 * 34 * 40, out);
        });
    int stripes = 0;
    for (std::int64_t column = 0; column < 40; ++column) {
        stripes += reference.response(column) != 1 ? 1 : 0;
    }
    EXPECT_GT(stripes, 0);
    for (std::int64_t i = 0; i < std::ssize(values); ++i) {
        ASSERT_EQ(values[static_cast<std::size_t>(i)],
                  reference.value(i / 1360, i / 40 % 34, i % 40))
            << i;
    }
}

TEST(Shadows, AreThoseOfTheScans) {
    const ScanReference reference{1, 7, 9, 0, 0};
    const auto values =
        filled<double>(18 * 63, [&](CpuQueue& queue, ElementType type, std::byte* out) {
            fill_shadows(queue, type, Shape{18, 7, 9}, 0, 18 * 63, out);
        });
    for (std::int64_t i = 0; i < std::ssize(values); ++i) {
        const double y = static_cast<double>(2 * (i / 9 % 7) - 6) / 7;
        const double x = static_cast<double>(2 * (i % 9) - 8) / 9;
        ASSERT_NEAR(values[static_cast<std::size_t>(i)], reference.shadow(i / 63, y, x), 1e-7) << i;
    }
}

// Pixels and elements that were found by search.
TEST(Scan, HasADeadPixelInAThousand) {
    const Shape shape = {3, 2000, 2000};
    const std::int64_t flat = 2000 * 2000;
    for (const std::int64_t pixel : {1638560, 1914256}) { // dead, but not of one in 1001
        const double draw = Stream(~std::uint64_t{1}, pixel).next();
        EXPECT_TRUE(1.0 / 1001 < draw && draw < 1.0 / 1000);
        EXPECT_EQ(scan(shape, 1, 1e4, flat + pixel, 1)[0], 0);
    }
    for (const std::int64_t pixel : {155047, 2617531}) { // of one in 999
        const double draw = Stream(~std::uint64_t{1}, pixel).next();
        EXPECT_TRUE(1.0 / 1000 < draw && draw < 1.0 / 999);
        EXPECT_GT(scan(shape, 1, 1e4, flat + pixel, 1)[0], 0);
    }
}

TEST(Scan, StrikesOneElementInFiveThousand) {
    const Shape shape = {20, 1000, 4000};
    for (const std::int64_t element : {15896808, 34681513}) {
        const double draw = Stream(1, element).next();
        EXPECT_TRUE(1.0 / 5001 < draw && draw < 1.0 / 5000);
        EXPECT_GE(scan(shape, 1, 100, element, 1)[0], 400);
    }
    const double draw = Stream(1, 32530450).next();
    EXPECT_TRUE(1.0 / 5000 < draw && draw < 1.0 / 4999);
    EXPECT_LT(scan(shape, 1, 100, 32530450, 1)[0], 400);
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
