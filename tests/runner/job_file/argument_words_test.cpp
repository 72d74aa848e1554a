// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/argument_words.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(ArgumentWords, KeysOfAKindAreOptions) {
    EXPECT_EQ(
        in_words_of_arguments("the patch is larger (denoise.patch): it is. Write a smaller one",
                              "runner denoise"),
        "the patch is larger (--patch): it is. Write a smaller one");
    EXPECT_EQ(in_words_of_arguments("none (phase.energy, phase.pixel_size). Write energy = 25.0 in "
                                    "keV, and pixel_size = 1.1 in micrometres",
                                    "runner phase"),
              "none (--energy, --pixel-size). Write --energy 25.0 in keV, and --pixel-size 1.1 in "
              "micrometres");
    EXPECT_EQ(in_words_of_arguments("wrong (runner denoise:7:1, denoise.patch)", "runner denoise"),
              "wrong (--patch)");
    EXPECT_EQ(in_words_of_arguments("Write { gaussian = { sigma = 2.0 } }", "runner convolve"),
              "Write { gaussian = { sigma = 2.0 } }");
}

TEST(ArgumentWords, KeysOfOtherTablesAreSet) {
    EXPECT_EQ(in_words_of_arguments("NaN: write a number, or input.invalid = \"nan\" if it is none",
                                    "runner denoise"),
              "NaN: write a number, or --set input.invalid=nan if it is none");
    EXPECT_EQ(in_words_of_arguments("Take one: input.select = { s = 0 }", "runner sand"),
              "Take one: --set 'input.select={ s = 0 }'");
    EXPECT_EQ(in_words_of_arguments("Give output.chunk, as output.chunk = [256, 4096]; or by "
                                    "input.axes. Set run.resume = \"never\"",
                                    "runner bin"),
              "Give --chunk, as --chunk 256,4096; or by --set input.axes. Pass --set "
              "run.resume=never");
    EXPECT_EQ(in_words_of_arguments("Set output.overwrite = true, or name another output.file",
                                    "runner bin"),
              "Pass --overwrite, or name another OUT");
    EXPECT_EQ(in_words_of_arguments("it is float32 (input.dataset)", "runner sand"),
              "it is float32 (IN)");
    EXPECT_EQ(in_words_of_arguments("Name it: two.h5:/a, or by input.dataset in a job file; more",
                                    "runner bin"),
              "Name it: two.h5:/a; more");
}

TEST(ArgumentWords, NamesOfFilesStay) {
    for (const char* const name : {"input.raw", "output.tif", "input.h5", "run.npy",
                                   "a/input.axes/b", "input.axes.tif", "--set input.axes=zyx"}) {
        const std::string message = "cannot read it (" + std::string(name) + ", byte 3)";
        EXPECT_EQ(in_words_of_arguments(message, "runner median"), message);
    }
}

TEST(ArgumentWords, StepsAreThoseOfAPipeline) {
    EXPECT_EQ(in_words_of_arguments("it is [3, 3] (runner pipeline:20:1, step 4, denoise.patch)",
                                    "runner pipeline"),
              "it is [3, 3] (--steps, step 4, denoise.patch)");
    const std::string hint = "Put a [[step]] before it, kind = \"rescale\"; from = [0, 9]; dtype = "
                             "\"float32\". Convert it: more";
    EXPECT_EQ(in_words_of_arguments(hint, "runner pipeline"),
              "Put a step before it: rescale from=[0,9] dtype=float32. Convert it: more");
    EXPECT_EQ(in_words_of_arguments(hint, "runner denoise"),
              "Put a step before it: runner pipeline IN OUT --steps \"rescale from=[0,9] "
              "dtype=float32, denoise …\". Convert it: more");
}

} // namespace
} // namespace runner
