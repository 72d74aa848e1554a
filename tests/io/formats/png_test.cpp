// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/png_writer.hpp"

#include "tests/io/read_png.hpp"
#include "tests/io/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

namespace runner {
namespace {

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

TEST(WritePng, MarksPicturesThatMayBeReplaced) {
    const ScratchFolder folder;
    const std::string file = folder / "a.png";
    const auto error = [&] { return error_of([&] { check_picture_name(file); }); };
    EXPECT_FALSE(error()); // nothing is there
    write_png(file, {1, 1, 1, {7}});
    EXPECT_FALSE(error());
    const std::vector<std::byte> unmarked = png_bytes({1, 1, 1, {7}});
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(unmarked.data()), std::ssize(unmarked));
    ASSERT_TRUE(error());
    EXPECT_EQ(error()->code(), ExitCode::output);
    std::ofstream(file, std::ios::binary) << "x";
    EXPECT_TRUE(error());
    std::ofstream(file, std::ios::binary).flush();
    EXPECT_FALSE(error()); // it is empty
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
