// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/rescale/rescale.hpp"

#include "tests/reference/rescale_reference.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/queues.hpp"
#include "tests/support/vector_sets.hpp"

#include <cmath>
#include <cstdint>

namespace runner {
namespace {

template <class In, class Out, class Q>
std::vector<Out> rescaled(Q& queue, Rescale r, const std::vector<In>& in, std::size_t offset = 0) {
    r.in_type = element_type_of<In>();
    r.out_type = element_type_of<Out>();
    return values_of<Out>(made_on(
        queue, bytes_of(in), in.size() * sizeof(Out),
        [&](const std::byte* from, std::byte* to) {
            rescale(queue, r, static_cast<std::int64_t>(in.size()), from, to);
            queue.synchronize();
        },
        offset));
}

constexpr Rescale range(double low, double high, double a, double b) {
    return {ElementType::float32, ElementType::float32, low, high, a, b};
}

template <class Q> class RescaleTest : public QueueTest<Q> {};
TYPED_TEST_SUITE(RescaleTest, TestQueues);

TYPED_TEST(RescaleTest, ByHand) {
    // (x − 10) · (255 / 20): 12.75 a step.
    const std::vector<std::uint16_t> in = {0, 10, 11, 20, 29, 30, 31, 65535};
    EXPECT_EQ((std::vector<std::uint8_t>{0, 0, 13, 128, 242, 255, 255, 255}),
              (rescaled<std::uint16_t, std::uint8_t>(this->queue(), range(10, 30, 0, 255), in)));
    // Falling, beyond the output's type at one end: 300 − 15 (x − 10), clipped to [0, 300].
    EXPECT_EQ((std::vector<std::uint8_t>{255, 255, 255, 150, 15, 0, 0, 0}),
              (rescaled<std::uint16_t, std::uint8_t>(this->queue(), range(10, 30, 300, 0), in)));
    EXPECT_EQ((std::vector<float>{-1, -1, 0, 0.5F, 0.984375F}),
              (rescaled<std::int8_t, float>(this->queue(), range(-64, 64, -1, 1),
                                            {-128, -64, 0, 32, 63})));
}

TYPED_TEST(RescaleTest, AFlatRangeGivesTheLowerEndEverywhere) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ((std::vector<std::int16_t>{-7, -7, -7, -7}),
              (rescaled<float, std::int16_t>(this->queue(), range(5, 5, -7, 9), {4, 5, 6, nan})));
}

TYPED_TEST(RescaleTest, NanStaysInFloatsAndIsZeroInIntegers) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> in = {nan, inf, -inf, 0.25F};
    EXPECT_EQ((std::vector<std::uint8_t>{0, 200, 100, 125}),
              (rescaled<float, std::uint8_t>(this->queue(), range(0, 1, 100, 200), in)));
    const auto floats = rescaled<float, double>(this->queue(), range(0, 1, 100, 200), in);
    EXPECT_TRUE(std::isnan(floats[0]));
    EXPECT_EQ(floats[1], 200);
}

TYPED_TEST(RescaleTest, TheProductIsFused) {
    // (1 + s) · (1 + s) − 1 = 2s + s², and s² is lost where the product is rounded first.
    const double s = 0x1p-27;
    EXPECT_EQ((std::vector<double>{2 * s + s * s}),
              (rescaled<double, double>(this->queue(), range(0, 2, -1, 1 + 2 * s), {1 + s})));
}

/// Bounds beyond the output's type, on either side, and slopes that overflow.
TYPED_TEST(RescaleTest, BoundsBeyondTheTypes) {
    std::mt19937_64 random(3);
    const std::vector<std::uint16_t> in = any_elements<std::uint16_t>(5000, random);
    const double most = std::numeric_limits<double>::max();
    for (const Rescale& r :
         {range(0, 65535, 300, 500), range(0, 65535, -500, -300), range(100, 101, -1e30, 1e30),
          range(0, 1e-300, 0, 255), range(7, std::nextafter(7.0, 8.0), -most, most),
          range(10, 30, 255, 0), range(0.5, 1000.25, 3.5, 4.5)}) {
        EXPECT_EQ("",
                  first_difference(rescale_reference<std::uint16_t, std::uint8_t>(r, in),
                                   rescaled<std::uint16_t, std::uint8_t>(this->queue(), r, in)));
        EXPECT_EQ("",
                  first_difference(rescale_reference<std::uint16_t, std::int32_t>(r, in),
                                   rescaled<std::uint16_t, std::int32_t>(this->queue(), r, in)));
        EXPECT_EQ("",
                  first_difference(rescale_reference<std::uint16_t, std::uint32_t>(r, in),
                                   rescaled<std::uint16_t, std::uint32_t>(this->queue(), r, in)));
    }
}

/// Elements of a byte in every piece that a GPU makes of them.
TYPED_TEST(RescaleTest, BytesInAnyNumber) {
    std::mt19937_64 random(4);
    for (const std::size_t count : {1U, 17U, 16384U, 65536U, 65537U, 150001U}) {
        const std::vector<std::uint8_t> in = any_elements<std::uint8_t>(count, random);
        for (const std::size_t offset : {0U, 1U}) {
            const Rescale r = range(3, 200, -7, 150.5);
            EXPECT_EQ("", first_difference(
                              rescale_reference<std::uint8_t, std::uint8_t>(r, in),
                              rescaled<std::uint8_t, std::uint8_t>(this->queue(), r, in, offset)));
            EXPECT_EQ("", first_difference(
                              rescale_reference<std::uint8_t, double>(r, in),
                              rescaled<std::uint8_t, double>(this->queue(), r, in, 8 * offset)));
        }
    }
}

/// Every pair of types over all alignments to 16 bytes that elements may have.
template <class Q> void expect_reference(Q& queue, std::size_t count, std::mt19937_64& random) {
    for (const ElementType in_type : all_element_types) {
        visit_element_type(in_type, [&](auto in_zero) {
            using In = decltype(in_zero);
            const std::vector<In> in = any_elements<In>(count, random);
            for (const ElementType out_type : all_element_types) {
                visit_element_type(out_type, [&](auto out_zero) {
                    using Out = decltype(out_zero);
                    const Rescale r =
                        range(-20.5, 99, 0.3, out_type == ElementType::int8 ? -90 : 9e4);
                    const std::size_t offset = random() % 2 * std::max(sizeof(In), sizeof(Out));
                    EXPECT_EQ("", first_difference(rescale_reference<In, Out>(r, in),
                                                   rescaled<In, Out>(queue, r, in, offset)))
                        << name_of(in_type) << " to " << name_of(out_type);
                });
            }
        });
    }
}

TYPED_TEST(RescaleTest, AllTypesAsTheReference) {
    std::mt19937_64 random(1);
    for (const std::size_t count : {1U, 15U, 2049U, 33001U}) {
        expect_reference(this->queue(), count, random);
    }
}

TEST(RescaleTargets, EveryVectorSetGivesTheBytesOfTheReference) {
    CpuQueue queue(2);
    std::mt19937_64 random(2);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        SCOPED_TRACE(hwy::TargetName(target));
        expect_reference(queue, 301, random);
    }
}

} // namespace
} // namespace runner
