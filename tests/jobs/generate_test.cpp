// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/generate.hpp"

#include "io/inspect/inspect_dataset.hpp"
#include "io/output/publish_output.hpp"
#include "kernels/patterns/patterns.hpp"
#include "tests/io/dataset_file.hpp"
#include "tests/io/scratch_folder.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace runner {
namespace {

GenerateRequest request(const std::string& pattern, std::vector<std::int64_t> shape,
                        ElementType type = ElementType::float32) {
    return {pattern, std::move(shape), type, 7};
}

TEST(Generate, MakesThePatternInOneFile) {
    const ScratchFolder folder;
    for (const auto& shape :
         {std::vector<std::int64_t>{5}, {3, 4}, {2, 3, 4}, {3000, 6000} /* two pieces */}) {
        generate(request("index", shape), folder / "a.h5", "/in/x", 2, Overwrite::yes);
        const auto values = read_dataset<float>(folder / "a.h5", "/in/x");
        EXPECT_EQ(inspect_dataset(folder / "a.h5", "/in/x").array.shape, shape);
        std::vector<float> expected(values.size());
        std::iota(expected.begin(), expected.end(), 0.0F);
        if (values.size() < (1 << 24)) {
            EXPECT_EQ(values, expected);
        } else {
            // Beyond 2^24 a float counts in twos.
            EXPECT_EQ(values[(1 << 24) + 2], 16777218.0F);
            EXPECT_EQ(values.back(), 17999999.0F + 1.0F);
        }
        EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.partial"));
    }
}

TEST(Generate, CutsASandFileWhereRowsBeginOnBytes) {
    const ScratchFolder folder;
    // Two pieces, the first of which would end within a byte.
    const GenerateRequest scene = request("sample-1", {2, 4099, 8193}, ElementType::uint8);
    generate(scene, folder / "a.sand", "/frames", 2);
    generate(scene, folder / "a.h5", "/frames", 2);
    EXPECT_TRUE(read_dataset<std::uint8_t>(folder / "a.sand", "/frames") ==
                read_dataset<std::uint8_t>(folder / "a.h5", "/frames"));
}

TEST(Generate, TakesTheSeed) {
    const ScratchFolder folder;
    generate(request("noise", {100}, ElementType::uint8), folder / "a.h5", "x", 1);
    CpuQueue queue(1);
    std::vector<std::uint8_t> expected(100);
    fill_pattern(queue, Pattern::noise, ElementType::uint8, std::vector<std::int64_t>{100}, 7, 0,
                 100, reinterpret_cast<std::byte*>(expected.data()));
    EXPECT_EQ(read_dataset<std::uint8_t>(folder / "a.h5", "x"), expected);
}

TEST(Generate, ReplacesAFileOnlyWhenTold) {
    const ScratchFolder folder;
    generate(request("index", {3}), folder / "a.h5", "x", 1);
    const auto error = error_of([&] { generate(request("index", {4}), folder / "a.h5", "x", 1); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_EQ(error->text().where, folder / "a.h5");
    EXPECT_EQ(read_dataset<float>(folder / "a.h5", "x").size(), 3);
    generate(request("index", {4}), folder / "a.h5", "x", 1, Overwrite::yes);
    EXPECT_EQ(read_dataset<float>(folder / "a.h5", "x").size(), 4);
}

TEST(Generate, RefusesWhatItDoesNotKnow) {
    const ScratchFolder folder;
    const auto pattern = error_of([&] { generate(request("nose", {3}), folder / "a.h5", "x", 1); });
    ASSERT_TRUE(pattern);
    EXPECT_EQ(pattern->code(), ExitCode::usage);
    EXPECT_EQ(pattern->text().try_this, "Known are noise, index, gradient, sample-1, sample-2, "
                                        "sample-3, sample-4, sand-noise, phantom, xray, "
                                        "tomo-scan, phase-scan, shadows");
    for (const auto& shape :
         {std::vector<std::int64_t>{}, {3, 0}, {-1}, {std::int64_t{1} << 62, 8}}) {
        const auto error =
            error_of([&] { generate(request("noise", shape), folder / "a.h5", "x", 1); });
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code(), ExitCode::usage);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Generate, LooksForRoomFirst) {
    const ScratchFolder folder;
    const GenerateRequest large = request("noise", {1 << 20, 1 << 20, 1 << 19});
    const auto error = error_of([&] { generate(large, folder / "a.h5", "x", 1); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_NE(error->text().why.find("it takes 2.00 EiB and "), std::string::npos);
    const auto nowhere =
        error_of([&] { generate(request("noise", {3}), folder / "no/a.h5", "x", 1); });
    ASSERT_TRUE(nowhere);
    EXPECT_EQ(nowhere->text().try_this, "Make it: mkdir -p " + (folder / "no"));
}

TEST(Generate, LeavesNothingBehindWhenItFails) {
    const ScratchFolder folder;
    const auto error = error_of([&] { generate(request("index", {3}), folder / "a.h5", "/", 1); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ExitCode::output);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

} // namespace
} // namespace runner
