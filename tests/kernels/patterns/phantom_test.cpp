// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/patterns/phantom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Shape = std::vector<std::int64_t>;

/// What `fill` writes for so many elements, and nothing behind them.
template <class T, class Fill> std::vector<T> filled(std::int64_t count, const Fill& fill) {
    CpuQueue queue(2);
    constexpr T untouched = 77;
    std::vector<T> values(static_cast<std::size_t>(count) + 1, untouched);
    fill(queue, element_type_of<T>(), reinterpret_cast<std::byte*>(values.data()));
    EXPECT_EQ(values.back(), untouched);
    values.pop_back();
    return values;
}

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

constexpr double half_turn = 3.14159265358979323846;

/// A line of the table of the head: M. Schabel's phantom3d (MATLAB Central 9416), "modified
/// Shepp-Logan", without the tilt of 10 degrees.
struct Published {
    double value, half_x, half_y, half_z, x, y, z, degrees;
};

constexpr std::array<Published, 10> published = {{{1, .69, .92, .81, 0, 0, 0, 0},
                                                  {-.8, .6624, .874, .78, 0, -.0184, 0, 0},
                                                  {-.2, .11, .31, .22, .22, 0, 0, -18},
                                                  {-.2, .16, .41, .28, -.22, 0, 0, 18},
                                                  {.1, .21, .25, .41, 0, .35, -.15, 0},
                                                  {.1, .046, .046, .05, 0, .1, .25, 0},
                                                  {.1, .046, .046, .05, 0, -.1, .25, 0},
                                                  {.1, .046, .023, .05, -.08, -.605, 0, 0},
                                                  {.1, .023, .023, .02, 0, -.606, 0, 0},
                                                  {.1, .023, .046, .02, .06, -.605, 0, 0}}};

/// The sum of the ellipsoids around a point, by turning it back.
double published_value(double z, double y, double x) {
    double sum = 0;
    for (const Published& e : published) {
        const std::complex<double> flat =
            std::complex(x - e.x, y - e.y) * std::polar(1.0, -e.degrees * half_turn / 180);
        const double distance =
            std::hypot(flat.real() / e.half_x, flat.imag() / e.half_y, (z - e.z) / e.half_z);
        sum += distance <= 1 ? e.value : 0;
    }
    return sum;
}

/// Kak and Slaney's projection of an ellipse (1988, section 3.1), of each ellipsoid's in the plane.
double published_shadow(double angle, double z, double s) {
    double sum = 0;
    for (const Published& e : published) {
        const double w = (z - e.z) / e.half_z;
        if (std::abs(w) >= 1) {
            continue;
        }
        const double shrunk = std::sqrt(1 - w * w);
        const double a = e.half_x * shrunk;
        const double b = e.half_y * shrunk;
        const double turned = angle - e.degrees * half_turn / 180;
        const double squared =
            std::pow(a * std::cos(turned), 2) + std::pow(b * std::sin(turned), 2);
        const double t = s - (e.x * std::cos(angle) + e.y * std::sin(angle));
        if (t * t < squared) {
            sum += 2 * e.value * a * b / squared * std::sqrt(squared - t * t);
        }
    }
    return sum;
}

/// Vigna's splitmix64, begun where an element's stream begins.
class Stream {
  public:
    Stream(std::uint64_t seed, std::int64_t element)
        : state_(mixed(mixed(seed) + static_cast<std::uint64_t>(element) + 1)) {}

    /// In (0, 1): the middle of one of 2^52 equal parts.
    double next() {
        state_ += 0x9e3779b97f4a7c15U;
        return std::ldexp(static_cast<double>(mixed(state_) >> 12) + 0.5, -52);
    }

  private:
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

/// Hörmann's PTRS (Insurance: Mathematics and Economics 12, 1993), step by step.
double ptrs(double mean, Stream& stream) {
    const double b = 0.931 + 2.53 * std::sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double v_r = 0.9277 - 3.6224 / (b - 2);
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    while (true) {
        const double u = stream.next() - 0.5;
        const double v = stream.next();
        const double us = 0.5 - std::abs(u);
        const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= v_r) {
            return k;
        }
        if (k < 0 || (us < 0.013 && v > us)) {
            continue;
        }
        const double left = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
        if (left <= -mean + k * std::log(mean) - std::lgamma(k + 1)) {
            return k;
        }
    }
}

/// Knuth's way where the mean is below 10, as many factors as stay above exp(-mean), else PTRS.
double poisson(double mean, Stream& stream) {
    if (mean >= 10) {
        return ptrs(mean, stream);
    }
    double product = stream.next();
    int count = 0;
    while (product > std::exp(-mean)) {
        product *= stream.next();
        ++count;
    }
    return count;
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

/// An element of a scan of 20 · each frames of rows × columns.
struct ScanReference {
    std::int64_t each, rows, columns;
    std::uint64_t seed;
    double counts;

    double shadow(std::int64_t projection, double y, double x) const {
        const double angle =
            half_turn * static_cast<double>(projection) / static_cast<double>(18 * each);
        return published_shadow(angle, -y, x);
    }

    double value(std::int64_t frame, std::int64_t row, std::int64_t column) const {
        const auto middle = [](std::int64_t i, std::int64_t extent) {
            return static_cast<double>(2 * i + 1 - extent) / static_cast<double>(extent);
        };
        const double y = middle(row, rows);
        const double x = middle(column, columns);
        Stream pixel(~seed, row * columns + column);
        if (pixel.next() < 0.001) {
            return 0;
        }
        double mean = 0.02 + 0.02 * pixel.next();
        const double beam = (0.9 + 0.2 * pixel.next()) * (1 - 0.4 * (x * x + y * y));
        if (frame >= 2 * each) {
            mean += beam * std::exp(-shadow(frame - 2 * each, y, x));
        } else if (frame >= each) {
            mean += beam;
        }
        Stream stream(seed, (frame * rows + row) * columns + column);
        const bool struck = stream.next() < 0.0002 && frame >= 2 * each;
        return poisson(counts * mean, stream) + (struck ? std::floor(4 * counts) : 0);
    }
};

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
