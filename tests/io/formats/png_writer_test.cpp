// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/png_writer.hpp"

#include "base/error.hpp"
#include "tests/io/read_png.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(PngWriter, WritesWhatAReaderReads) {
    const ScratchFolder folder;
    for (const int channels : {1, 3}) {
        for (const auto& [width, height] : {std::pair{1, 1}, {7, 5}, {333, 401}}) {
            Bytes pixels(static_cast<std::size_t>(width * height * channels));
            std::uint32_t state = 1;
            std::generate(pixels.begin(), pixels.end(), [&] {
                state = state * 1664525U + 1013904223U;
                return static_cast<std::uint8_t>(state >> 24U);
            });
            const std::string file = folder / "a.png";
            PngWriter writer(file, {width, height, channels, {}});
            for (int line = 0; line < height; line += 2) { // two at a time, and the rest
                writer.write(pixels.data() + static_cast<std::ptrdiff_t>(line) * width * channels,
                             std::min(2, height - line));
            }
            writer.finish();
            const Picture picture = read_png(file);
            EXPECT_EQ(picture.width, width);
            EXPECT_EQ(picture.height, height);
            EXPECT_EQ(picture.channels, channels);
            EXPECT_EQ(picture.pixels, pixels);
        }
    }
}

TEST(PngWriter, WritesNumbersOfColours) {
    const ScratchFolder folder;
    const std::string file = folder / "a.png";
    const std::vector<Colour> palette = {{1, 2, 3}, {40, 50, 60}, {7, 80, 9}, {255, 0, 255}};
    const Bytes indices = {0, 1, 2, 3, 2, 1, 1, 3, 0, 2};
    PngWriter writer(file, {5, 2, 1, palette});
    writer.write(indices.data(), 2);
    writer.finish();
    Bytes expected;
    for (const std::uint8_t index : indices) {
        expected.insert(expected.end(), palette[index].begin(), palette[index].end());
    }
    const Picture picture = read_png(file);
    EXPECT_EQ(picture.channels, 3);
    EXPECT_EQ(picture.pixels, expected);
}

TEST(PngWriter, SaysWhatCannotBe) {
    const ScratchFolder folder;
    for (const auto& [width, height] :
         {std::pair<std::int64_t, std::int64_t>{0, 1}, {1, std::int64_t{1} << 31}}) {
        const auto error = error_of([&, width = width, height = height] {
            PngWriter writer(folder / "a.png", {width, height, 1, {}});
        });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ExitCode::usage);
    }
    const auto folderless = error_of([&] {
        PngWriter writer(folder / "none/a.png", {1, 1, 1, {}});
    });
    ASSERT_TRUE(folderless);
    EXPECT_EQ(folderless->code(), ExitCode::output);
    // Libpng's own objection.
    const auto colours = error_of([&] {
        PngWriter writer(folder / "a.png", {1, 1, 1, std::vector<Colour>(5)});
    });
    ASSERT_TRUE(colours);
    EXPECT_EQ(colours->code(), ExitCode::output);
    EXPECT_NE(colours->text().why.find("palette"), std::string::npos) << colours->what();
    const auto cut = error_of([&] {
        PngWriter writer(folder / "a.png", {1, 2, 1, {}});
        writer.write(Bytes{1}.data(), 1);
        writer.finish();
    });
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->code(), ExitCode::defect);
}

} // namespace
} // namespace runner
