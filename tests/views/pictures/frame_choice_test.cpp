// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/frame_choice.hpp"

#include "base/error.hpp"
#include "io/input/open_rows.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

OwnFiles& own_files() {
    static OwnFiles files;
    return files;
}

FrameChoice several(std::int64_t first, std::optional<std::int64_t> end, std::int64_t step) {
    return {FrameChoice::Count::several, first, end, step};
}

TEST(ParseFrames, ReadsRangesAsPythonDoes) {
    EXPECT_EQ(parse_frames("all"), several(0, {}, 1));
    EXPECT_EQ(parse_frames("2:5"), several(2, 5, 1));
    EXPECT_EQ(parse_frames("2:50:10"), several(2, 50, 10));
    EXPECT_EQ(parse_frames("7:"), several(7, {}, 1));
    EXPECT_EQ(parse_frames(":7"), several(0, 7, 1));
    EXPECT_EQ(parse_frames(":"), several(0, {}, 1));
    EXPECT_EQ(parse_frames("::3"), several(0, {}, 3));
    EXPECT_EQ(parse_frames("1:2:"), several(1, 2, 1));
}

TEST(ParseFrames, RefusesTheRest) {
    for (const char* text :
         {"", "5", "-1:3", "3:-1", "5:5", "5:4", "1:2:0", "1:2:-1", "1:2:3:4", "a:b", "1:2x", " :",
          "1;2", "All", ":0", "0:99999999999999999999", "9223372036854775807:"}) {
        EXPECT_FALSE(parse_frames(text)) << text;
    }
}

std::vector<std::int64_t> frames_of(const FrameChoice& choice, std::int64_t frames) {
    const FrameRange range = choose_frames(choice, frames, "a.h5:/x");
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < range.count; ++i) {
        all.push_back(range[i]);
    }
    return all;
}

TEST(ChooseFrames, TakesThoseThatAreThere) {
    using List = std::vector<std::int64_t>;
    EXPECT_EQ(frames_of(several(0, {}, 1), 3), (List{0, 1, 2}));
    EXPECT_EQ(frames_of(several(1, {}, 3), 8), (List{1, 4, 7}));
    EXPECT_EQ(frames_of(several(1, 7, 3), 8), (List{1, 4}));
    EXPECT_EQ(frames_of(several(1, 8, 100), 8), (List{1}));
    EXPECT_EQ(frames_of(one_frame(2), 3), (List{2}));
    for (const FrameChoice& choice : {several(0, 4, 1), several(3, {}, 1), one_frame(3)}) {
        const auto error = error_of([&] { (void)choose_frames(choice, 3, "a.h5:/x"); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ExitCode::usage);
        EXPECT_EQ(error->text().what, "there is no frame 3");
        EXPECT_EQ(error->text().where, "a.h5:/x");
        EXPECT_NE(error->text().why.find("3 frames"), std::string::npos);
    }
}

TEST(FrameNumbers, AreTheGenerationsWhereTheyAreKnown) {
    const ScratchFolder folder;
    const std::string file = folder / "a.h5";
    write_dataset<std::uint8_t>(file, "/frames", {2, 1, 1}, {0, 1});
    const FrameNumbers counted = frame_numbers(own_files(), file, "/frames", 2, std::nullopt);
    EXPECT_FALSE(counted.generations);
    EXPECT_EQ(counted.of(1), 1);
    const FrameNumbers said = frame_numbers(own_files(), file, "/frames", 2, 50);
    EXPECT_TRUE(said.generations);
    EXPECT_EQ(said.of(1), 51);
    const FrameNumbers sand =
        frame_numbers(own_files(), "not/read.sand", "/frames", 2, std::nullopt);
    EXPECT_TRUE(sand.generations);
    EXPECT_EQ(sand.of(1), 2);
    write_dataset<std::uint64_t>(file, "/generation", {2}, {300, 600});
    const FrameNumbers listed = frame_numbers(own_files(), file, "/frames", 2, std::nullopt);
    EXPECT_TRUE(listed.generations);
    EXPECT_EQ(listed.of(1), 600);
}

TEST(NumberedNames, ArePaddedAlike) {
    FrameNumbers numbers;
    EXPECT_EQ(NumberedNames("a/out.png", numbers, {0, 1, 101}, "").of(100), "a/out-000100.png");
    numbers.listed = {{7, 12345678}};
    const NumberedNames names("o.png", numbers, {0, 1, 2}, "");
    EXPECT_EQ(names.of(0), "o-00000007.png");
    EXPECT_EQ(names.of(1), "o-12345678.png");
}

TEST(NumberedNames, AreRefusedWhereTwoWouldBeOne) {
    FrameNumbers numbers;
    numbers.listed = {{5, 6, 5}};
    const auto error = error_of([&] {
        (void)NumberedNames("o.png", numbers, {0, 1, 3}, "a.h5:/x");
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::input);
    EXPECT_NE(error->text().why.find("generation 5"), std::string::npos);
    EXPECT_EQ(NumberedNames("o.png", numbers, {0, 1, 2}, "").of(0), "o-000005.png");
}

} // namespace
} // namespace runner
