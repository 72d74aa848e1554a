// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/elements.hpp"

#include "kernels/elements/ordered_key.hpp"
#include "tests/support/element_cases.hpp"
#include "tests/support/vector_sets.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Values at and about the ends and the halves of every integer type, and what no type holds.
std::vector<double> awkward_values() {
    std::vector<double> values = {0.0,           -0.0,  0.5,      1.5,       2.5,
                                  -0.5,          -1.5,  infinity, -infinity, std::nan(""),
                                  -std::nan(""), 1e300, -1e300,   0x1p-149,  0x1p-1060};
    for (const int digits : {7, 8, 15, 16, 31, 32, 63, 64}) {
        const double end = std::ldexp(1.0, digits);
        for (const double step : {-2.0, -1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0}) {
            values.push_back(end + step);
            values.push_back(-end - step);
            values.push_back(std::nextafter(end, 0.0) + step);
        }
    }
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> any(-70000, 70000);
    while (values.size() < 1003) {
        values.push_back(any(random));
    }
    return values;
}

TEST(Converted, RoundsHalfToEvenAndSaturatesByHand) {
    EXPECT_EQ(converted<std::uint8_t>(0.5), 0);
    EXPECT_EQ(converted<std::uint8_t>(1.5F), 2);
    EXPECT_EQ(converted<std::uint8_t>(2.5), 2);
    EXPECT_EQ(converted<std::uint8_t>(-3.0), 0);
    EXPECT_EQ(converted<std::uint8_t>(255.7), 255);
    EXPECT_EQ(converted<std::int8_t>(-128.5), -128);
    EXPECT_EQ(converted<std::int8_t>(-1e9F), -128);
    EXPECT_EQ(converted<std::int16_t>(-2.5), -2);
    EXPECT_EQ(converted<std::uint32_t>(4294967295.5), 4294967295U);
    EXPECT_EQ(converted<std::int64_t>(0x1p63), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(converted<std::int64_t>(-infinity), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(converted<std::uint64_t>(0x1p64F), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(converted<std::uint64_t>(std::nan("")), 0U);
    EXPECT_EQ(converted<float>(1e300), std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(converted<float>(std::nan(""))));
}

TEST(OrderedKey, OrdersAsTheElementsWithNanLast) {
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> rising = {-inf, -1e30F,    -2, -0x1p-149F, -0.0F,
                                       0.0F, 0x1p-149F, 1,  3e38F,      inf};
    for (std::size_t i = 1; i < rising.size(); ++i) {
        EXPECT_LT(ordered_key(rising[i - 1]), ordered_key(rising[i])) << i;
    }
    EXPECT_GT(ordered_key(std::nanf("")), ordered_key(inf));
    EXPECT_EQ(ordered_key(-std::nanf("7")), ordered_key(std::nanf("")));
    for (const float value : rising) {
        EXPECT_TRUE(same_element(element_of_key<float>(ordered_key(value)), value));
    }
    EXPECT_TRUE(std::isnan(element_of_key<double>(ordered_key(-std::nan("")))));
    EXPECT_LT(ordered_key(std::uint8_t{127}), ordered_key(std::uint8_t{128}));
    EXPECT_LT(ordered_key(std::uint64_t{0}), ordered_key(~std::uint64_t{0}));
    EXPECT_EQ(element_of_key<std::uint16_t>(ordered_key(std::uint16_t{40000})), 40000);
    EXPECT_EQ(element_of_key<std::int16_t>(ordered_key(std::int16_t{-7})), -7);
}

template <class T, class Out> void expect_stored(const std::vector<T>& values) {
    for (std::size_t count = values.size() - 17; count <= values.size(); ++count) {
        std::vector<Out> out(count + 1, Out{77});
        store_elements(element_type_of<Out>(), values.data(), static_cast<std::int64_t>(count),
                       reinterpret_cast<std::byte*>(out.data()));
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(same_element(out[i], converted<Out>(values[i])))
                << name_of(element_type_of<Out>()) << " of " << values[i];
        }
        ASSERT_EQ(out[count], Out{77});
    }
}

template <class T, class In> void expect_loaded() {
    std::mt19937_64 random(5);
    std::vector<In> elements;
    for (const double value : awkward_values()) {
        elements.push_back(converted<In>(value));
    }
    for (int i = 0; i < 1000; ++i) {
        elements.push_back(static_cast<In>(random()));
    }
    std::vector<T> out(elements.size() + 1, T{77});
    load_elements(element_type_of<In>(), bytes_of(elements).data(),
                  static_cast<std::int64_t>(elements.size()), out.data());
    for (std::size_t i = 0; i < elements.size(); ++i) {
        ASSERT_TRUE(same_element(out[i], static_cast<T>(elements[i])))
            << name_of(element_type_of<In>()) << " " << +elements[i];
    }
    ASSERT_EQ(out.back(), T{77});
}

TEST(Elements, EveryVectorSetConvertsEveryType) {
    const std::vector<double> values = awkward_values();
    const std::vector<float> singles(values.begin(), values.end());
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        SCOPED_TRACE(hwy::TargetName(target));
        for (const ElementType type : all_element_types) {
            visit_element_type(type, [&](auto zero) {
                using E = decltype(zero);
                expect_loaded<float, E>();
                expect_loaded<double, E>();
                expect_stored<double, E>(values);
                expect_stored<float, E>(singles);
            });
        }
    }
}

} // namespace
} // namespace runner
