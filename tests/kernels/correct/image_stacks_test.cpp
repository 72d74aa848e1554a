// SPDX-License-Identifier: BSD-3-Clause
// Sums and medians of images against the plainest way to compute them, with every vector set.
#include "kernels/correct/image_stacks.hpp"

#include "tests/support/vector_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace runner {
namespace {

bool is_below(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

template <class T> double number(T value) { return static_cast<double>(value); }

/// One pixel's.
float plain_median(std::vector<double> values) {
    std::sort(values.begin(), values.end(), is_below);
    const std::size_t middle = values.size() / 2;
    return static_cast<float>(values.size() % 2 == 1 ? values[middle]
                                                     : (values[middle - 1] + values[middle]) / 2);
}

template <class T> std::vector<T> random_elements(std::mt19937_64& random, std::int64_t count) {
    std::vector<T> elements;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        if constexpr (std::is_floating_point_v<T>) {
            constexpr T inf = std::numeric_limits<T>::infinity();
            const std::vector<T> odd = {inf, -inf, std::numeric_limits<T>::quiet_NaN(),
                                        -std::numeric_limits<T>::quiet_NaN(),
                                        std::numeric_limits<T>::max()};
            elements.push_back(bits % 4 == 0 ? odd[bits / 4 % odd.size()]
                                             : static_cast<T>(static_cast<std::int64_t>(bits)) /
                                                   static_cast<T>(1 << 20));
        } else {
            // All bits, or few values, so that many are equal.
            elements.push_back(static_cast<T>(bits % 2 == 0 ? bits >> 8 : bits >> 62));
        }
    }
    return elements;
}

template <class T> class ImageStackTest : public testing::Test {};
using Elements =
    testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(ImageStackTest, Elements);

template <class T>
void expect_medians(const std::vector<T>& elements, std::int64_t images, std::int64_t pixels,
                    std::int64_t gap) {
    std::vector<float> medians(static_cast<std::size_t>(pixels));
    const std::int64_t stride = pixels + gap;
    median_of_images({element_type_of<T>(), reinterpret_cast<const std::byte*>(elements.data()),
                      images, stride * static_cast<std::int64_t>(sizeof(T))},
                     pixels, medians.data());
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < images; ++i) {
            values.push_back(number(elements[static_cast<std::size_t>(i * stride + pixel)]));
        }
        const float expected = plain_median(values);
        const float is = medians[static_cast<std::size_t>(pixel)];
        ASSERT_TRUE(is == expected || (std::isnan(is) && std::isnan(expected)))
            << is << " is not " << expected << ": pixel " << pixel << " of " << images << " images";
    }
}

TYPED_TEST(ImageStackTest, MediansAreThoseOfSortedValues) {
    std::mt19937_64 random(7);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        for (const std::int64_t images : {1, 2, 3, 4, 21, 100}) {
            for (const std::int64_t pixels : {1, 127, 128, 300}) {
                const auto elements = random_elements<TypeParam>(random, images * (pixels + 5));
                expect_medians(elements, images, pixels, 5);
            }
        }
    }
}

TYPED_TEST(ImageStackTest, SumsAreAddedOneByOne) {
    std::mt19937_64 random(8);
    for (const std::int64_t target : usable_targets()) {
        const OnlyTarget only(target);
        for (const std::int64_t count : {1, 7, 512, 1300}) {
            const auto first = random_elements<TypeParam>(random, count);
            const auto second = random_elements<TypeParam>(random, count);
            std::vector<double> sums(static_cast<std::size_t>(count), 0.1);
            std::vector<double> expected = sums;
            for (const auto* image : {&first, &second}) {
                add_elements(element_type_of<TypeParam>(),
                             reinterpret_cast<const std::byte*>(image->data()), count, sums.data());
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    expected[i] += number((*image)[i]);
                }
            }
            for (std::size_t i = 0; i < expected.size(); ++i) {
                ASSERT_TRUE(sums[i] == expected[i] ||
                            (std::isnan(sums[i]) && std::isnan(expected[i])))
                    << i;
            }
        }
    }
}

TEST(ImageStack, MoreImagesThan16BitsCount) {
    constexpr std::int64_t images = 40001;
    std::mt19937_64 random(9);
    expect_medians(random_elements<std::uint8_t>(random, images * 3), images, 3, 0);
    expect_medians(random_elements<std::int16_t>(random, images * 3), images - 1, 3, 0);
}

} // namespace
} // namespace runner
