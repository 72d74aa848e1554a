// SPDX-License-Identifier: BSD-3-Clause
// Trimmed means of images against sorted values, with every vector set.
#include "kernels/correct/trimmed_stacks.hpp"

#include "tests/support/vector_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace runner {
namespace {

constexpr double mark = 7;

bool is_below(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

/// One pixel's: a quarter at each end is left out.
float plain_mean(std::vector<double> values) {
    std::sort(values.begin(), values.end(), is_below);
    const std::size_t away = values.size() / 4;
    double sum = 0;
    for (std::size_t i = away; i < values.size() - away; ++i) {
        sum += values[i];
    }
    return static_cast<float>(sum / static_cast<double>(values.size() - 2 * away));
}

template <class T> class TrimmedStackTest : public testing::Test {};
using Elements =
    testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(TrimmedStackTest, Elements);

/// Half of them few values, so that many are equal or the mark; of floats some are NaN or infinite.
template <class T> std::vector<T> some_elements(std::mt19937_64& random, std::int64_t count) {
    std::vector<T> elements;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        if (std::is_floating_point_v<T> && bits % 16 < 2) {
            elements.push_back(bits % 16 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                              : std::numeric_limits<T>::infinity());
        } else {
            elements.push_back(static_cast<T>(bits % 2 == 0 ? (bits >> 8) % 10 : bits >> 40));
        }
    }
    return elements;
}

template <class T>
void expect_means(const std::vector<T>& elements, std::int64_t images, std::int64_t pixels,
                  std::int64_t stride, std::optional<double> invalid) {
    std::vector<float> means(static_cast<std::size_t>(pixels));
    trimmed_mean_of_images({element_type_of<T>(),
                            reinterpret_cast<const std::byte*>(elements.data()), images,
                            stride * std::int64_t{sizeof(T)}},
                           invalid, pixels, means.data());
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < images; ++i) {
            const auto value =
                static_cast<double>(elements[static_cast<std::size_t>(i * stride + pixel)]);
            if (!invalid || (!std::isnan(value) && value != *invalid)) {
                values.push_back(value);
            }
        }
        const float is = means[static_cast<std::size_t>(pixel)];
        const float expected =
            values.empty() ? std::numeric_limits<float>::quiet_NaN() : plain_mean(values);
        ASSERT_TRUE(is == expected || (std::isnan(is) && std::isnan(expected)))
            << is << " is not " << expected << ": pixel " << pixel << " of " << images << " images";
    }
}

TYPED_TEST(TrimmedStackTest, MeansAreThoseOfTheMiddleHalf) {
    std::mt19937_64 random(7);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        for (const std::int64_t images : {1, 2, 3, 4, 7, 8, 21, 64, 100}) {
            for (const std::int64_t pixels : {1, 128, 131}) {
                const std::int64_t stride = pixels + 5;
                const auto elements = some_elements<TypeParam>(random, images * stride);
                expect_means(elements, images, pixels, stride, {});
                expect_means(elements, images, pixels, stride, mark);
            }
        }
    }
}

TEST(TrimmedStack, LeavesAQuarterAway) {
    const std::vector<float> elements = {9, 1, 1e30F, 2, 4}; // 1, and 1e30, are left out
    float mean = 0;
    trimmed_mean_of_images(
        {ElementType::float32, reinterpret_cast<const std::byte*>(elements.data()), 5, 4}, {}, 1,
        &mean);
    EXPECT_EQ(mean, 5);
}

} // namespace
} // namespace runner
