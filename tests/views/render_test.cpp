// SPDX-License-Identifier: BSD-3-Clause
#include "views/render.hpp"

#include "base/error.hpp"
#include "io/input/open_rows.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/read_png.hpp"
#include "tests/io/scratch_folder.hpp"
#include "views/pictures/thumbnail.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

OwnFiles& own_files() {
    static OwnFiles files;
    return files;
}

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
        render(own_files(), request);
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

TEST_F(Render, SaysWhereNothingSaysWhatTheLastAxisIs) {
    put<std::uint16_t>("a", {1, 2, 4}, {0, 100, 200, 255, 300, 400, 500, 255});
    RenderRequest request;
    request.sources = {{folder_ / "a", "/x"}};
    request.picture = folder_ / "out.png";
    request.size = 4;
    std::string warnings;
    request.warn = [&](const std::string& text) { warnings += text + "\n"; };
    render(own_files(), request);
    EXPECT_EQ(read_png(request.picture).width, 4);
    EXPECT_NE(warnings.find("taken as an axis of the image. Add --colour"), std::string::npos)
        << warnings;
    warnings.clear();
    for (const bool colour : {true, false}) {
        request.colour = colour;
        render(own_files(), request);
        EXPECT_EQ(read_png(request.picture).channels, colour ? 3 : 1);
    }
    EXPECT_EQ(warnings, "");
    put<std::uint16_t>("a", {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
    request.colour = true;
    EXPECT_EQ(error_of([&] { render(own_files(), request); })->text().what,
              "the input is not colour");
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

TEST_F(Render, VolumesAreCutAcrossEachOfTheirAxes) {
    // Two volumes of 2 × 3 × 4: element (v, z, y, x) is 100 v + 24 z + 8 y + x, as a byte.
    Bytes values;
    for (int v = 0; v < 2; ++v) {
        for (int z = 0; z < 2; ++z) {
            for (int y = 0; y < 3; ++y) {
                for (int x = 0; x < 4; ++x) {
                    values.push_back(static_cast<std::uint8_t>(100 * v + 24 * z + 8 * y + x));
                }
            }
        }
    }
    put<std::uint8_t>("a", {2, 2, 3, 4}, values);
    const auto across = [&](std::int64_t axis, std::int64_t frame) {
        RenderRequest request;
        request.sources = {{folder_ / "a", "/x"}};
        request.picture = folder_ / "out.png";
        request.size = 4;
        request.axis = axis;
        request.frames = one_frame(frame);
        render(own_files(), request);
        return read_png(request.picture);
    };
    EXPECT_EQ(across(1, 3).pixels,
              (Bytes{124, 125, 126, 127, 132, 133, 134, 135, 140, 141, 142, 143}));
    EXPECT_EQ(across(2, 1).pixels, (Bytes{8, 9, 10, 11, 32, 33, 34, 35}));
    EXPECT_EQ(across(2, 5).pixels, (Bytes{116, 117, 118, 119, 140, 141, 142, 143}));
    const Picture last = across(3, 7);
    EXPECT_EQ(last.width, 3);
    EXPECT_EQ(last.height, 2);
    EXPECT_EQ(last.pixels, (Bytes{103, 111, 119, 127, 135, 143}));
    for (const auto& wrong : {std::pair(0, 0), {4, 0}, {3, 8}}) {
        const auto error = error_of([&] { (void)across(wrong.first, wrong.second); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ExitCode::usage);
    }
}

TEST_F(Render, ProjectionsTakeAllAlongAnAxis) {
    const double nan_value = std::numeric_limits<double>::quiet_NaN();
    put<double>("a", {2, 2, 3}, {1, 2, 3, 4, nan_value, 6, 7, 1, 0, 2, nan_value, 5});
    ImageSource source = open_image(own_files(), folder_ / "a", "/x", {{}, 0, {}}, 1);
    const auto of = [&](int axis, Projection projection) {
        source.view->axis = axis;
        source.image = source.view->image();
        std::vector<double> values = project(source, 0, projection);
        for (double& value : values) {
            value = std::isnan(value) ? -1 : value; // which compares
        }
        return values;
    };
    using Values = std::vector<double>;
    EXPECT_EQ(of(0, Projection::maximum), (Values{7, 2, 3, 4, -1, 6}));
    EXPECT_EQ(of(0, Projection::minimum), (Values{1, 1, 0, 2, -1, 5}));
    EXPECT_EQ(of(0, Projection::mean), (Values{4, 1.5, 1.5, 3, -1, 5.5}));
    EXPECT_EQ(of(1, Projection::maximum), (Values{4, 2, 6, 7, 1, 5}));
    EXPECT_EQ(of(2, Projection::maximum), (Values{3, 6, 7, 5}));
    EXPECT_EQ(of(2, Projection::mean), (Values{2, 5, 8.0 / 3, 3.5}));
}

TEST_F(Render, AcrossTheLastAxisElementsAreSampledUnlessAllAreWanted) {
    // 1 × 8 × 2: of column 1, eight elements to two pixels.
    put<float>("a", {1, 8, 2}, {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7});
    const ImageSource source = open_image(own_files(), folder_ / "a", "/x", {{}, 2, {}}, 1);
    const std::optional<Thumbnail> sampled = sampled_thumbnail(source, 1, 2, 1 << 20);
    ASSERT_TRUE(sampled);
    EXPECT_EQ(sampled->values, (std::vector<double>{0, 4}));
    EXPECT_TRUE(sampled->is_sample);
    EXPECT_EQ(make_thumbnail(source, 1, 2).values, (std::vector<double>{1.5, 5.5}));
}

TEST_F(Render, ADifferenceIsBlueWhereTheSecondIsLess) {
    put<float>("a", {1, 3}, {0, 5, 1});
    put<float>("b", {1, 3}, {0, 1, 3});
    RenderRequest request;
    request.sources = {{folder_ / "a", "/x"}, {folder_ / "b", "/x"}};
    request.picture = folder_ / "out.png";
    request.size = 3;
    request.difference = RenderRequest::Difference::yes;
    const std::string shown = render(own_files(), request);
    EXPECT_NE(shown.find("difference: blue -4 to red 4\n"), std::string::npos) << shown;
    const Picture picture = read_png(request.picture);
    ASSERT_EQ(picture.width, 3 * 3 + 2 * 8);
    ASSERT_EQ(picture.channels, 3);
    const Bytes last(picture.pixels.end() - 9, picture.pixels.end());
    EXPECT_EQ(last, (Bytes{255, 255, 255, 33, 102, 172, 217, 140, 149}));
    put<float>("b", {3, 1}, {0, 1, 3});
    const auto error = error_of([&] { (void)render(own_files(), request); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::usage);
}

TEST_F(Render, PercentilesAskedForHoldForBytesToo) {
    put<std::uint8_t>("a", {1, 5}, {10, 20, 30, 40, 50});
    RenderRequest request;
    request.sources = {{folder_ / "a", "/x"}};
    request.picture = folder_ / "out.png";
    request.size = 5;
    request.percentiles = Percentiles{0.25, 0.75};
    render(own_files(), request);
    EXPECT_EQ(read_png(request.picture).pixels, (Bytes{0, 0, 128, 255, 255}));
}

TEST_F(Render, SampledThumbnailsReadEvenlySpacedLinesAndAreSmallerWhereTheseAreFew) {
    // Line y holds y everywhere.
    std::vector<float> values(200 * 100);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t line = i / 100;
        values[i] = static_cast<float>(line);
    }
    put<float>("a", {200, 100}, values);
    const ImageSource source = open_image(own_files(), folder_ / "a", "/x", {}, 1);
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
