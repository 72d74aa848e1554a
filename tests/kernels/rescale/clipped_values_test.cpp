// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/elements.hpp"
#include "kernels/rescale/rescale.hpp"

#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace runner {
namespace {

constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

template <class In, class Out, class Q>
std::int64_t clipped(Q& queue, Rescale r, const std::vector<In>& in, std::int64_t first = 0,
                     std::int64_t last = all, std::size_t offset = 0) {
    r.in_type = element_type_of<In>();
    r.out_type = element_type_of<Out>();
    const DeviceBytes sum(queue, bytes_of(std::vector<std::uint64_t>{0}));
    (void)made_on(
        queue, bytes_of(in), in.size() * sizeof(Out),
        [&](const std::byte* from, std::byte* to) {
            rescale(queue, r, std::ssize(in), from, to,
                    {reinterpret_cast<std::uint64_t*>(sum.data()), first, last});
            queue.synchronize();
        },
        offset);
    return values_of<std::int64_t>(sum.fetch()).front();
}

Rescale range(double low, double high, double a, double b) {
    return {ElementType::float32, ElementType::float32, low, high, a, b, {}};
}

template <class In>
std::int64_t beyond(const Rescale& r, const std::vector<In>& in, std::int64_t first,
                    std::int64_t last) {
    std::int64_t count = 0;
    for (std::int64_t i = first; i < std::min<std::int64_t>(last, std::ssize(in)); ++i) {
        const In x = in[static_cast<std::size_t>(i)];
        const auto value = static_cast<double>(x);
        const bool is_invalid = r.invalid && (x == converted<In>(*r.invalid) || std::isnan(value));
        count += !is_invalid && (value < r.from_low || value > r.from_high) ? 1 : 0;
    }
    return count;
}

template <class Q> class ClippedValues : public QueueTest<Q> {};
TYPED_TEST_SUITE(ClippedValues, TestQueues);

TYPED_TEST(ClippedValues, ByHand) {
    auto& queue = this->queue();
    const std::vector<std::uint16_t> in = {0, 10, 11, 20, 29, 30, 31, 65535};
    EXPECT_EQ((clipped<std::uint16_t, std::uint8_t>(queue, range(10, 30, 0, 255), in)), 3);
    EXPECT_EQ((clipped<std::uint16_t, std::uint8_t>(queue, range(10, 30, 255, 0), in, 1, 7)), 1);
    EXPECT_EQ((clipped<std::uint16_t, float>(queue, range(10.5, 29.5, 0, 1), in)), 5);
    EXPECT_EQ((clipped<std::uint16_t, float>(queue, range(20, 20, 0, 1), in)), 7);
    EXPECT_EQ((clipped<std::uint16_t, float>(queue, range(-9, -3, 0, 1), in)), 8);
    EXPECT_EQ((clipped<std::uint16_t, float>(queue, range(65535.5, 1e9, 0, 1), in)), 8);
    EXPECT_EQ((clipped<std::uint16_t, float>(queue, range(-9, 1e9, 0, 1), in)), 0);
    Rescale of_valid = range(10, 30, 0, 255);
    of_valid.invalid = 65535;
    EXPECT_EQ((clipped<std::uint16_t, std::uint8_t>(queue, of_valid, in)), 2);
}

TYPED_TEST(ClippedValues, OfFloatsAreComparedWithTheNumbersAsTheyAre) {
    auto& queue = this->queue();
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float third = 1.0F / 3; // above 1 / 3
    const std::vector<float> in = {third, std::nextafter(third, 0.0F), inf, -inf, nan, 1};
    EXPECT_EQ((clipped<float, float>(queue, range(1.0 / 3, 1, 0, 1), in)), 3);
    EXPECT_EQ((clipped<float, float>(queue, range(0, 1.0 / 3, 0, 1), in)), 4);
    EXPECT_EQ((clipped<float, float>(queue, range(-1e300, 1e300, 0, 1), in)), 2);
    EXPECT_EQ((clipped<float, float>(queue, range(1e300, 2e300, 0, 1), in)), 5);
}

/// The products of a range whose factor is rounded may be beyond the output's by a little.
TYPED_TEST(ClippedValues, TheEndsAreNotBeyondTheRange) {
    for (int high = 1; high < 200; ++high) {
        const std::vector<std::uint8_t> in = {0, static_cast<std::uint8_t>(high)};
        EXPECT_EQ((clipped<std::uint8_t, double>(this->queue(), range(0, high, 0, 1), in)), 0);
    }
}

template <class Q> void expect_counts(Q& queue, std::size_t count, std::mt19937_64& random) {
    for (const ElementType in_type : all_element_types) {
        visit_element_type(in_type, [&](auto in_zero) {
            using In = decltype(in_zero);
            const std::vector<In> in = any_elements<In>(count, random);
            Rescale r = range(-20.5, 99, 0, 250);
            if (random() % 2 == 0) {
                r.invalid = 101;
            }
            const auto first = static_cast<std::int64_t>(random() % count);
            const auto last = static_cast<std::int64_t>(count) -
                              static_cast<std::int64_t>(random() % (count / 2 + 1));
            const std::size_t offset = random() % 2 * std::max<std::size_t>(sizeof(In), 4);
            EXPECT_EQ((clipped<In, std::uint8_t>(queue, r, in)), beyond(r, in, 0, all))
                << name_of(in_type);
            EXPECT_EQ((clipped<In, float>(queue, r, in, first, last, offset)),
                      beyond(r, in, first, last))
                << name_of(in_type) << " " << first << " to " << last << " of " << count;
        });
    }
}

TYPED_TEST(ClippedValues, OfAllTypesInPartsOfAnArray) {
    std::mt19937_64 random(21);
    for (const std::size_t count : {1U, 15U, 2049U, 33001U, 300007U}) {
        expect_counts(this->queue(), count, random);
    }
}

TEST(ClippedValuesTargets, EveryVectorSetCountsTheSame) {
    CpuQueue queue(2);
    std::mt19937_64 random(22);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        SCOPED_TRACE(hwy::TargetName(target));
        expect_counts(queue, 301, random);
    }
}

} // namespace
} // namespace runner
