// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/choice/picture_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace runner::trial {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Thumbnail image(std::int64_t width, std::int64_t height, std::vector<double> values) {
    Thumbnail one;
    one.width = width;
    one.height = height;
    one.channels = static_cast<int>(std::ssize(values) / (width * height));
    one.values = std::move(values);
    return one;
}

TEST(PictureNumbers, NoiseIsTheMedianResponseOfTheMask) {
    // The response at the middle is 4, at planes 0.
    const std::vector<Thumbnail> peak = {image(3, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0})};
    EXPECT_DOUBLE_EQ(noise_of(peak).value(), 1.4826 * 4 / 6);
    const std::vector<Thumbnail> plane = {image(3, 4, {0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8})};
    EXPECT_EQ(noise_of(plane), 0);
    EXPECT_FALSE(noise_of(std::vector{image(2, 3, {1, 2, 3, 4, 5, 6})}));
    EXPECT_FALSE(noise_of(std::vector{image(3, 3, {0, 0, 0, 0, nan, 0, 0, 0, 0})}));
}

TEST(PictureNumbers, RemovedCountsWhatDiffers) {
    const std::vector<Thumbnail> before = {image(2, 2, {1, 2, 3, nan})};
    const std::vector<Thumbnail> after = {image(2, 2, {1, 2, 6, 5})};
    const std::optional<Removed> removed = removed_between(before, after);
    ASSERT_TRUE(removed);
    EXPECT_DOUBLE_EQ(removed->changed, 1.0 / 3);
    EXPECT_DOUBLE_EQ(removed->deviation, std::sqrt(2.0));
    // Differences less their mean are -1, -1, 2 and none: along rows 1, along columns -2, of 6.
    EXPECT_DOUBLE_EQ(removed->structure.value(), -2.0 / 6);
    EXPECT_DOUBLE_EQ(removed->correlation.value(), 1.0 / 6);
    EXPECT_DOUBLE_EQ(removed->white_limit(), 3 / std::sqrt(3.0));
    EXPECT_FALSE(removed_between(before, before)->structure);
    EXPECT_FALSE(removed_between(before, std::vector{image(4, 1, {1, 2, 3, 4})}));
    EXPECT_FALSE(removed_between(std::vector{image(1, 1, {nan})}, std::vector{image(1, 1, {1})}));
}

TEST(PictureNumbers, SharpnessIsTheSlopeLeftAtEdges) {
    std::vector<double> step;
    std::vector<double> half;
    for (int y = 0; y < 7; ++y) {
        for (int x = 0; x < 9; ++x) {
            step.push_back(x < 4 ? 0 : 8);
            half.push_back(x < 4 ? 2 : 6);
        }
    }
    const std::vector<Thumbnail> before = {image(9, 7, step)};
    EXPECT_DOUBLE_EQ(sharpness_of(before, before).value(), 1);
    EXPECT_DOUBLE_EQ(sharpness_of(before, std::vector{image(9, 7, half)}).value(), 0.5);
    const std::vector<Thumbnail> flat = {image(9, 7, std::vector<double>(63, 1.0))};
    EXPECT_FALSE(sharpness_of(flat, before));
    EXPECT_DOUBLE_EQ(sharpness_of(before, flat).value(), 0);
}

} // namespace
} // namespace runner::trial
