// SPDX-License-Identifier: BSD-3-Clause
#include "io/png.hpp"

#include "tests/io/scratch_folder.hpp"

#include <gtest/gtest.h>
#include <png.h>

namespace runner {
namespace {

/// Reads it with the same library's other half.
Picture read_png(const std::string& file) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, file.c_str()), 0) << image.message;
    const bool grey = (image.format & PNG_FORMAT_FLAG_COLOR) == 0;
    image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    Picture picture{image.width, image.height, grey ? 1 : 3, {}};
    picture.pixels.resize(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr), 0);
    return picture;
}

TEST(WritePng, KeepsEveryPixel) {
    const ScratchFolder folder;
    for (const int channels : {1, 3}) {
        for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {257, 129}}) {
            Picture picture{width, height, channels, {}};
            for (int i = 0; i < width * height * channels; ++i) {
                picture.pixels.push_back(static_cast<std::uint8_t>(i * 7 % 256));
            }
            write_png(folder / "a.png", picture);
            const Picture back = read_png(folder / "a.png");
            EXPECT_EQ(back.width, width);
            EXPECT_EQ(back.height, height);
            EXPECT_EQ(back.channels, channels);
            EXPECT_EQ(back.pixels, picture.pixels);
        }
    }
}

TEST(WritePng, RefusesWhatIsNoPicture) {
    const ScratchFolder folder;
    const auto error = error_of([&] { write_png(folder / "a.png", Picture{2, 2, 1, {1, 2, 3}}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::usage);
    EXPECT_FALSE(std::filesystem::exists(folder / "a.png"));
}

} // namespace
} // namespace runner
