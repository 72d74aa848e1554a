// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fourier/fourier.hpp"

#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <cmath>
#include <complex>

namespace runner {
namespace {

constexpr double pi = 3.14159265358979323846;

std::vector<ComplexFloat> some_numbers(std::int64_t count, std::mt19937_64& random) {
    std::uniform_real_distribution<float> value(-1, 1);
    std::vector<ComplexFloat> numbers(static_cast<std::size_t>(count));
    for (ComplexFloat& number : numbers) {
        number = {value(random), value(random)};
    }
    return numbers;
}

template <class Q>
std::vector<ComplexFloat> transformed(Q& queue, std::int64_t length, FourierWay way,
                                      const std::vector<ComplexFloat>& in) {
    const FourierPasses passes = fourier_passes(length);
    std::vector<ComplexFloat> table = fourier_factors(passes);
    table.resize(table.size() + 1); // memory of no bytes has no address
    const DeviceBytes<Q> factors(queue, bytes_of(table));
    return values_of<ComplexFloat>(
        made_on(queue, bytes_of(in), in.size() * sizeof(ComplexFloat),
                [&](const std::byte* from, std::byte* to) {
                    transform_lines(queue, passes, way, std::ssize(in) / length,
                                    reinterpret_cast<const ComplexFloat*>(from),
                                    reinterpret_cast<ComplexFloat*>(to),
                                    reinterpret_cast<const ComplexFloat*>(factors.data()));
                    queue.synchronize();
                }));
}

/// The largest distance between a line's transform and the sum that defines it, in float64.
double distance(const ComplexFloat* in, const ComplexFloat* out, std::int64_t length,
                FourierWay way) {
    const double sign = way == FourierWay::forward ? -1 : 1;
    std::vector<std::complex<double>> roots;
    for (std::int64_t i = 0; i < length; ++i) {
        roots.push_back(
            std::polar(1.0, sign * 2 * pi * static_cast<double>(i) / static_cast<double>(length)));
    }
    double most = 0;
    for (std::int64_t k = 0; k < length; ++k) {
        std::complex<double> sum = 0;
        for (std::int64_t i = 0; i < length; ++i) {
            sum += std::complex<double>(in[i].re, in[i].im) *
                   roots[static_cast<std::size_t>(i * k % length)];
        }
        most = std::max(most, std::abs(sum - std::complex<double>(out[k].re, out[k].im)));
    }
    return most;
}

/// Transforms grow like the square root of the length, and errors of float32 with them.
double tolerance(std::int64_t length) { return 1e-6 * std::sqrt(static_cast<double>(length)); }

bool same_bytes(const std::vector<ComplexFloat>& a, const std::vector<ComplexFloat>& b) {
    return bytes_of(a) == bytes_of(b);
}

template <class Q> class FourierTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(FourierTest, TestQueues);

TYPED_TEST(FourierTest, ByHand) {
    const std::vector<ComplexFloat> in = {{1, 0}, {0, 0}, {0, 2}, {0, 0}};
    const auto out = transformed(this->queue(), 4, FourierWay::forward, in);
    EXPECT_TRUE(same_bytes({{1, 2}, {1, -2}, {1, 2}, {1, -2}}, out));
}

TYPED_TEST(FourierTest, IsTheSumThatDefinesIt) {
    std::mt19937_64 random(1);
    for (const std::int64_t length :
         {1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  12,  14,  15,   16,
          18, 30, 32, 49, 64, 81, 105, 125, 128, 210, 243, 343, 1000, 2250}) {
        for (const FourierWay way : {FourierWay::forward, FourierWay::backward}) {
            const std::vector<ComplexFloat> in = some_numbers(11 * length, random);
            const auto out = transformed(this->queue(), length, way, in);
            for (const std::int64_t line : {0, 7, 8, 10}) {
                EXPECT_LT(distance(&in[static_cast<std::size_t>(line * length)],
                                   &out[static_cast<std::size_t>(line * length)], length, way),
                          tolerance(length))
                    << length << ", line " << line;
            }
        }
    }
}

TYPED_TEST(FourierTest, BackwardUndoesForward) {
    std::mt19937_64 random(2);
    for (const std::int64_t length : {4096, 8192, 8400, 9375, 10206, 16000, 16384}) {
        const std::vector<ComplexFloat> in = some_numbers(2 * length, random);
        const auto forward = transformed(this->queue(), length, FourierWay::forward, in);
        const auto out = transformed(this->queue(), length, FourierWay::backward, forward);
        double most = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
            const auto n = static_cast<double>(length);
            most = std::max(
                {most, std::abs(out[i].re / n - in[i].re), std::abs(out[i].im / n - in[i].im)});
        }
        EXPECT_LT(most, 3e-6) << length;
    }
}

/// Each queue makes what one thread does.
TYPED_TEST(FourierTest, EveryLengthGivesTheSameBytes) {
    std::mt19937_64 random(3);
    CpuQueue alone(1);
    for (std::int64_t length = 1; length <= most_fourier_length;
         length =
             length < 300 ? next_fourier_length(length + 1)
             : length == most_fourier_length
                 ? most_fourier_length + 1
                 : std::max(next_fourier_length(length + 1),
                            next_fourier_length(std::min(most_fourier_length, length * 9 / 8)))) {
        const std::vector<ComplexFloat> in = some_numbers(3 * length, random);
        EXPECT_TRUE(same_bytes(transformed(alone, length, FourierWay::forward, in),
                               transformed(this->queue(), length, FourierWay::forward, in)))
            << length;
    }
}

TEST(FourierTargets, EveryVectorSetGivesTheSameBytes) {
    std::mt19937_64 random(4);
    CpuQueue queue(2);
    for (const std::int64_t length : {8 * 7 * 5 * 3, 4 * 9, 2}) {
        const std::vector<ComplexFloat> in = some_numbers(13 * length, random);
        const auto right = transformed(queue, length, FourierWay::forward, in);
        for (const std::int64_t target : usable_targets()) {
            const OnlyTarget only(target);
            EXPECT_TRUE(same_bytes(right, transformed(queue, length, FourierWay::forward, in)))
                << hwy::TargetName(target) << ", " << length;
        }
    }
}

TEST(FourierLength, ProductsOfSmallPrimes) {
    for (const std::int64_t length : {1, 2, 7, 8, 210, 2401, 15625, 16384}) {
        EXPECT_TRUE(is_fourier_length(length)) << length;
        EXPECT_EQ(next_fourier_length(length), length);
    }
    for (const std::int64_t length : {-8, 0, 11, 13, 22, 2 * 11 * 49, 16385, 32768}) {
        EXPECT_FALSE(is_fourier_length(length)) << length;
    }
    EXPECT_EQ(next_fourier_length(11), 12);
    EXPECT_EQ(next_fourier_length(13), 14);
    EXPECT_EQ(next_fourier_length(2049), 2058); // 2 · 3 · 7³
    EXPECT_EQ(next_fourier_length(16385), 0);
}

TEST(FourierLength, PassesMakeTheLength) {
    for (std::int64_t length = 1; length > 0; length = next_fourier_length(length + 1)) {
        const FourierPasses passes = fourier_passes(length);
        std::int64_t product = 1;
        for (int i = 0; i < passes.count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            EXPECT_EQ(passes.before.at(at).value, product);
            product *= passes.radix.at(at);
        }
        EXPECT_EQ(product, length);
        EXPECT_LE(std::ssize(fourier_factors(passes)), length);
    }
}

TEST(FourierLength, RootsOfOne) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 105, 1000, 16384}) {
        for (std::int64_t k = 0; k < n; ++k) {
            const UnitRoot root = unit_root(k, n);
            const double angle = 2 * pi * static_cast<double>(k) / static_cast<double>(n);
            EXPECT_NEAR(root.re, std::cos(angle), 2e-15) << k << " of " << n;
            EXPECT_NEAR(root.im, -std::sin(angle), 2e-15) << k << " of " << n;
        }
    }
    EXPECT_EQ(unit_root(3, 4).re, 0);
    EXPECT_EQ(unit_root(3, 4).im, 1);
    EXPECT_EQ(unit_root(1, 2).im, 0);
}

} // namespace
} // namespace runner
