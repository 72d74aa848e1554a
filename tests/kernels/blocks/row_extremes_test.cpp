// SPDX-License-Identifier: BSD-3-Clause
// On every vector set of this machine, against a slow reading of the definition.
#include "kernels/blocks/row_extremes.hpp"

#include "tests/support/vector_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

/// Elements from 3 to 100.
template <class T> std::vector<T> some_elements(std::int64_t count) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::vector<T> elements(static_cast<std::size_t>(count));
    std::generate(elements.begin(), elements.end(),
                  [&] { return static_cast<T>(3 + random() % 98); });
    return elements;
}

template <class T> void check(const std::vector<T>& elements, const T* left_out) {
    RowExtremes<T> expected;
    for (const T element : elements) {
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(element)) {
                continue;
            }
        }
        if (left_out == nullptr || element != *left_out) {
            expected.least = std::min(expected.least, element);
            expected.greatest = std::max(expected.greatest, element);
        }
    }
    RowExtremes<T> found;
    widen(found, elements.data(), std::ssize(elements), left_out);
    ASSERT_EQ(found.least, expected.least) << elements.size();
    ASSERT_EQ(found.greatest, expected.greatest) << elements.size();
    // What was found before stays.
    found = {static_cast<T>(1), static_cast<T>(120)};
    widen(found, elements.data(), std::ssize(elements), left_out);
    ASSERT_EQ(found.least, std::min<T>(1, expected.least)) << elements.size();
    ASSERT_EQ(found.greatest, std::max<T>(120, expected.greatest)) << elements.size();
}

/// The extremes at each place in turn, those that do not count beside them.
template <class T> void check_type() {
    using Limits = std::numeric_limits<T>;
    for (const std::int64_t count : {0, 1, 3, 16, 31, 64, 127, 257}) {
        for (std::int64_t at = 0; at < std::max<std::int64_t>(count, 1); ++at) {
            std::vector<T> elements = some_elements<T>(count);
            check<T>(elements, nullptr);
            if (count == 0) {
                continue;
            }
            const auto other = static_cast<std::size_t>((at + 1) % count);
            elements[static_cast<std::size_t>(at)] = Limits::lowest();
            elements[other] = Limits::max();
            check<T>(elements, nullptr);
            check<T>(elements, &elements[other]);
            check<T>(elements, &elements[static_cast<std::size_t>(at)]);
            if constexpr (std::is_floating_point_v<T>) {
                elements[static_cast<std::size_t>(at)] = Limits::quiet_NaN();
                elements[other] = at % 2 == 0 ? Limits::infinity() : -Limits::infinity();
                const T out = elements.back();
                check<T>(elements, nullptr);
                check<T>(elements, &out);
            }
        }
    }
}

class OnVectors : public testing::TestWithParam<std::int64_t> {
  protected:
    OnlyTarget target_{GetParam()};
};

TEST_P(OnVectors, OfIntegers) {
    check_type<std::int8_t>();
    check_type<std::uint8_t>();
    check_type<std::int16_t>();
    check_type<std::uint16_t>();
    check_type<std::int32_t>();
    check_type<std::uint32_t>();
    check_type<std::int64_t>();
    check_type<std::uint64_t>();
}

TEST_P(OnVectors, OfFloats) {
    check_type<float>();
    check_type<double>();
}

INSTANTIATE_TEST_SUITE_P(RowExtremes, OnVectors, testing::ValuesIn(usable_targets()));

TEST(RowExtremes, OfNothingAreNone) {
    const float infinite = std::numeric_limits<float>::infinity();
    const std::vector<float> elements(100, infinite);
    RowExtremes<float> found;
    widen(found, elements.data(), 100, &infinite);
    EXPECT_GT(found.least, found.greatest);
}

} // namespace
} // namespace runner
