// SPDX-License-Identifier: BSD-3-Clause
// Sums and medians of valid elements against the plainest way to compute them.
#include "kernels/correct/valid_stacks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace runner {
namespace {

template <class T> class ValidStackTest : public testing::Test {};
using Elements = testing::Types<std::int8_t, std::uint16_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(ValidStackTest, Elements);

constexpr double mark = 7;

/// Few values, so that many are the mark; of floats some are NaN.
template <class T> std::vector<T> some_elements(std::int64_t count) {
    std::mt19937_64 random(5);
    std::vector<T> elements;
    for (std::int64_t i = 0; i < count; ++i) {
        const bool is_nan = std::is_floating_point_v<T> && random() % 5 == 0;
        elements.push_back(is_nan ? std::numeric_limits<T>::quiet_NaN()
                                  : static_cast<T>(random() % 10));
    }
    return elements;
}

/// The values of a pixel, in the images' order.
template <class T>
std::vector<double> valid_values(const std::vector<T>& elements, std::int64_t stride,
                                 std::int64_t images, std::int64_t pixel) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < images; ++i) {
        const auto value =
            static_cast<double>(elements[static_cast<std::size_t>(i * stride + pixel)]);
        if (!std::isnan(value) && value != mark) {
            values.push_back(value);
        }
    }
    return values;
}

TYPED_TEST(ValidStackTest, MediansAreOfValidElements) {
    for (const std::int64_t images : {1, 2, 3, 12}) {
        constexpr std::int64_t pixels = 300;
        constexpr std::int64_t stride = pixels + 5;
        const auto elements = some_elements<TypeParam>(images * stride);
        std::vector<float> medians(pixels);
        median_of_valid({element_type_of<TypeParam>(),
                         reinterpret_cast<const std::byte*>(elements.data()), images,
                         stride * std::int64_t{sizeof(TypeParam)}},
                        mark, pixels, medians.data());
        for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
            std::vector<double> values = valid_values(elements, stride, images, pixel);
            const float is = medians[static_cast<std::size_t>(pixel)];
            if (values.empty()) {
                ASSERT_TRUE(std::isnan(is)) << pixel;
                continue;
            }
            std::sort(values.begin(), values.end());
            const double lower = values[(values.size() - 1) / 2];
            const double upper = values[values.size() / 2];
            ASSERT_EQ(is, static_cast<float>((lower + upper) / 2)) << pixel;
        }
    }
}

TYPED_TEST(ValidStackTest, SumsAreOfValidElements) {
    constexpr std::int64_t images = 4;
    constexpr std::int64_t pixels = 77;
    const auto elements = some_elements<TypeParam>(images * pixels);
    std::vector<double> sums(pixels);
    std::vector<double> counts(pixels);
    for (std::int64_t i = 0; i < images; ++i) {
        add_valid_elements(element_type_of<TypeParam>(), mark,
                           reinterpret_cast<const std::byte*>(elements.data() + i * pixels), pixels,
                           sums.data(), counts.data());
    }
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        double sum = 0;
        const std::vector<double> values = valid_values(elements, pixels, images, pixel);
        for (const double value : values) {
            sum += value;
        }
        ASSERT_EQ(sums[static_cast<std::size_t>(pixel)], sum);
        ASSERT_EQ(counts[static_cast<std::size_t>(pixel)], static_cast<double>(values.size()));
    }
}

} // namespace
} // namespace runner
