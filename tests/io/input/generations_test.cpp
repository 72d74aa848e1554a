// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/generations.hpp"

#include "base/error.hpp"
#include "io/input/open_rows.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Numbers = std::vector<std::uint64_t>;

TEST(Generations, LieBesideTheirDataset) {
    EXPECT_EQ(generations_name("/frames"), "/generation");
    EXPECT_EQ(generations_name("frames"), "/generation");
    EXPECT_EQ(generations_name("/run/1/frames"), "/run/1/generation");
}

TEST(Generations, ComeBack) {
    OwnFiles files;
    const ScratchFolder folder;
    const Numbers numbers = {0, 100, std::numeric_limits<std::uint64_t>::max()};
    for (const char* dataset : {"/frames", "/run/frames"}) {
        const std::string file = folder / "a.h5";
        write_dataset<std::uint8_t>(file, dataset, {3, 1, 2}, std::vector<std::uint8_t>(6));
        EXPECT_FALSE(read_generations(files, file, dataset, 3));
        write_generations(file, dataset, numbers);
        EXPECT_EQ(read_generations(files, file, dataset, 3), numbers);
        EXPECT_EQ(read_dataset<std::uint64_t>(file, generations_name(dataset)), numbers);
        const auto again = error_of([&] { write_generations(file, dataset, numbers); });
        ASSERT_TRUE(again);
        EXPECT_EQ(again->code(), ExitCode::output);
    }
}

TEST(Generations, AreNotInASandFile) {
    OwnFiles files;
    EXPECT_FALSE(read_generations(files, "not/there.sand", "/frames", 3));
}

TEST(Generations, MayBeOtherIntegers) {
    OwnFiles files;
    const ScratchFolder folder;
    write_dataset<std::int16_t>(folder / "a.h5", "/generation", {2}, {7, 300});
    EXPECT_EQ(read_generations(files, folder / "a.h5", "/frames", 2), (Numbers{7, 300}));
}

TEST(Generations, MustFitTheFrames) {
    OwnFiles files;
    const ScratchFolder folder;
    write_dataset<std::uint64_t>(folder / "long.h5", "/generation", {4}, {1, 2, 3, 4});
    write_dataset<std::uint64_t>(folder / "flat.h5", "/generation", {3, 1}, {1, 2, 3});
    write_dataset<double>(folder / "real.h5", "/generation", {3}, {1, 2, 3});
    write_dataset<std::int64_t>(folder / "below.h5", "/generation", {3}, {1, 2, -3});
    for (const auto& [name, why] :
         {std::pair{"long.h5", "its shape is [4], and /frames has 3 frames"},
          {"flat.h5", "its shape is [3, 1]"},
          {"real.h5", "no integers"},
          {"below.h5", "that of frame 2 is -3"}}) {
        const std::string file = folder / name;
        const auto error = error_of([&] { (void)read_generations(files, file, "/frames", 3); });
        ASSERT_TRUE(error) << name;
        EXPECT_EQ(error->code(), ExitCode::input);
        EXPECT_EQ(error->text().where, file + ":/generation");
        EXPECT_NE(error->text().why.find(why), std::string::npos) << error->what();
    }
}

} // namespace
} // namespace runner
