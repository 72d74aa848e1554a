// SPDX-License-Identifier: BSD-3-Clause
#include "runner/render.hpp"

#include "base/error.hpp"
#include "runner/thumbnail.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/read_png.hpp"
#include "tests/io/scratch_folder.hpp"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Bytes = std::vector<std::uint8_t>;

class Render : public testing::Test {
  protected:
    template <class T>
    void put(const std::string& name, const std::vector<std::int64_t>& shape,
             const std::vector<T>& values) {
        write_dataset(folder_ / name, "/x", shape, values);
    }

    Picture of(std::initializer_list<const char*> names, std::int64_t size, std::int64_t frame = 0,
               RenderRequest::Contrast contrast = RenderRequest::Contrast::each) {
        RenderRequest request;
        for (const char* name : names) {
            request.sources.push_back({folder_ / name, "/x"});
        }
        request.picture = folder_ / "out.png";
        request.size = size;
        request.frames = one_frame(frame);
        request.contrast = contrast;
        render(request);
        return read_png(request.picture);
    }

    ScratchFolder folder_;
};

TEST_F(Render, BytesAreShownAsTheyAre) {
    put<std::uint8_t>("a", {2, 3}, {0, 50, 100, 150, 200, 250});
    const Picture picture = of({"a"}, 3);
    EXPECT_EQ(picture.width, 3);
    EXPECT_EQ(picture.height, 2);
    EXPECT_EQ(picture.channels, 1);
    EXPECT_EQ(picture.pixels, (Bytes{0, 50, 100, 150, 200, 250}));
}

TEST_F(Render, SmallImagesAreRepeatedWholeTimes) {
    put<std::uint8_t>("a", {1, 2}, {10, 20});
    const Picture picture = of({"a"}, 7); // three times
    EXPECT_EQ(picture.width, 6);
    EXPECT_EQ(picture.height, 3);
    EXPECT_EQ(picture.pixels,
              (Bytes{10, 10, 10, 20, 20, 20, 10, 10, 10, 20, 20, 20, 10, 10, 10, 20, 20, 20}));
}

TEST_F(Render, LargeImagesAreAveragedInBoxes) {
    // 2 × 5 to 1 × 2: columns 0, 1 and 2, 3, 4.
    put<std::uint8_t>("a", {2, 5}, {0, 10, 20, 30, 40, 20, 30, 50, 60, 70});
    const Picture picture = of({"a"}, 2);
    EXPECT_EQ(picture.width, 2);
    EXPECT_EQ(picture.height, 1);
    EXPECT_EQ(picture.pixels, (Bytes{15, 45}));
}

TEST_F(Render, LongImagesKeepOnePixel) {
    put<std::uint8_t>("a", {1, 1000}, Bytes(1000, 9));
    const Picture picture = of({"a"}, 10);
    EXPECT_EQ(picture.width, 10);
    EXPECT_EQ(picture.height, 1);
    EXPECT_EQ(picture.pixels, Bytes(10, 9));
}

TEST_F(Render, OthersAreStretchedBetweenPercentiles) {
    // 0 … 1000: the nearest ranks of 0.5 and 99.5 % are 5 and 995.
    std::vector<float> values(1001);
    std::iota(values.begin(), values.end(), 0.0F);
    put<float>("a", {7, 143}, values);
    const Picture picture = of({"a"}, 143);
    EXPECT_EQ(picture.pixels[0], 0);
    EXPECT_EQ(picture.pixels[5], 0);
    EXPECT_EQ(picture.pixels[500], 128); // 127.5
    EXPECT_EQ(picture.pixels[401], 102); // (401 - 5) / 990 · 255
    EXPECT_EQ(picture.pixels[995], 255);
    EXPECT_EQ(picture.pixels[1000], 255);
}

TEST_F(Render, WhatIsNotFiniteIsLeftOutOrBlack) {
    const double nan_value = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    put<double>("a", {1, 6}, {1, nan_value, infinity, nan_value, 3, 3});
    EXPECT_EQ(of({"a"}, 3).pixels, (Bytes{0, 0, 255}));
    put<double>("b", {1, 2}, {5, 5});
    EXPECT_EQ(of({"b"}, 2).pixels, (Bytes{128, 128}));
    put<double>("c", {1, 2}, {nan_value, nan_value});
    EXPECT_EQ(of({"c"}, 2).pixels, (Bytes{0, 0}));
}

TEST_F(Render, FramesAreTheLeadingAxes) {
    put<std::uint8_t>("a", {2, 2, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_EQ(of({"a"}, 2, 3).pixels, (Bytes{6, 7}));
    const auto error = error_of([&] { (void)of({"a"}, 2, 4); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::usage);
    EXPECT_NE(error->text().why.find("4 frames"), std::string::npos);
}

TEST_F(Render, ThreeBytesAreAColour) {
    put<std::uint8_t>("a", {2, 2, 2, 3},
                      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const Picture picture = of({"a"}, 2, 1);
    EXPECT_EQ(picture.channels, 3);
    EXPECT_EQ(picture.width, 2);
    EXPECT_EQ(picture.pixels, (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    // Average of all four pixels: 5.5, 6.5, 7.5.
    EXPECT_EQ(of({"a"}, 1, 1).pixels, (Bytes{6, 7, 8}));
}

TEST_F(Render, SeveralStandSideBySide) {
    put<std::uint8_t>("a", {1, 2}, {10, 20});
    put<std::uint8_t>("b", {2, 1}, {30, 40});
    const Picture picture = of({"a", "b"}, 2);
    EXPECT_EQ(picture.width, 2 + 8 + 1);
    EXPECT_EQ(picture.height, 2);
    Bytes expected(22, 255);
    expected[0] = 10;
    expected[1] = 20;
    expected[10] = 30;
    expected[21] = 40;
    EXPECT_EQ(picture.pixels, expected);
}

TEST_F(Render, ContrastIsEachOnesOwnOrTheSame) {
    put<float>("a", {1, 2}, {0, 1});
    put<float>("b", {1, 2}, {0, 4});
    const Picture each = of({"a", "b"}, 2);
    EXPECT_EQ(each.pixels[1], 255);
    EXPECT_EQ(each.pixels[11], 255);
    const Picture same = of({"a", "b"}, 2, 0, RenderRequest::Contrast::same);
    EXPECT_EQ(same.pixels[0], 0);
    EXPECT_EQ(same.pixels[1], 64); // 1 of 4
    EXPECT_EQ(same.pixels[11], 255);
}

TEST_F(Render, SampledThumbnailsReadEvenlySpacedLinesAndAreSmallerWhereTheseAreFew) {
    // Line y holds y everywhere.
    std::vector<float> values(200 * 100);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t line = i / 100;
        values[i] = static_cast<float>(line);
    }
    put<float>("a", {200, 100}, values);
    const ImageSource source = open_image(folder_ / "a", "/x", std::nullopt, 1);
    const auto sampled = [&](std::int64_t lines, std::int64_t size) {
        return sampled_thumbnail(source, 0, size, lines * 400);
    };
    const std::optional<Thumbnail> whole = sampled(200, 4);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->values,
              (std::vector<double>{24.5, 24.5, 74.5, 74.5, 124.5, 124.5, 174.5, 174.5}));
    const std::optional<Thumbnail> few = sampled(8, 4);
    ASSERT_TRUE(few); // lines 12, 37 …
    EXPECT_EQ(few->values,
              (std::vector<double>{24.5, 24.5, 74.5, 74.5, 124.5, 124.5, 174.5, 174.5}));
    const std::optional<Thumbnail> fewer = sampled(2, 4);
    ASSERT_TRUE(fewer);
    EXPECT_EQ(fewer->height, 2);
    EXPECT_EQ(fewer->width, 1);
    EXPECT_EQ(fewer->values, (std::vector<double>{50, 150}));
    EXPECT_FALSE(sampled_thumbnail(source, 0, 4, 399));
}

TEST_F(Render, OneAxisIsNoPicture) {
    put<float>("a", {5}, {1, 2, 3, 4, 5});
    const auto error = error_of([&] { (void)of({"a"}, 2); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
}

} // namespace
} // namespace runner
