// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats/slice_names.hpp"

#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

SliceNames names_of(const std::string& file) {
    const std::optional<SliceNames> names = SliceNames::of(file);
    EXPECT_TRUE(names) << file;
    return names.value_or(SliceNames());
}

TEST(SliceNames, HaveAsManyDigitsAsAreAskedFor) {
    EXPECT_EQ(names_of("a/x_*.tif").name(0, 1), "x_0.tif");
    EXPECT_EQ(names_of("a/x_*.tif").name(9, 10), "x_9.tif");
    EXPECT_EQ(names_of("a/x_*.tif").name(9, 11), "x_09.tif");
    EXPECT_EQ(names_of("x_*.TIFF").name(100, 101), "x_100.TIFF");
    EXPECT_EQ(names_of("%05d.png").name(7, 9), "00007.png");
    EXPECT_EQ(names_of("%02iz.ome.tif").name(123, 124), "123z.ome.tif");
    EXPECT_EQ(names_of("50% %d.png").name(12, 13), "50% 12.png");
    EXPECT_EQ(names_of("a*/b/x_*.tif").folder(), "a*/b/");
    EXPECT_EQ(names_of("x_*.tif").folder(), "");
}

TEST(SliceNames, HaveNamesOfAnySetOfTheirs) {
    const SliceNames any = names_of("x_*.tif");
    for (const char* name : {"x_0.tif", "x_007.tif", "x_123456.tif"}) {
        EXPECT_TRUE(any.has(name)) << name;
    }
    for (const char* name :
         {"x_.tif", "x_1a.tif", "x_1.tiff", "y_1.tif", "x_1.tif.partial", "_1.tif"}) {
        EXPECT_FALSE(any.has(name)) << name;
    }
    const SliceNames four = names_of("x_%04d.tif");
    EXPECT_TRUE(four.has("x_0007.tif"));
    EXPECT_TRUE(four.has("x_12345.tif"));
    EXPECT_FALSE(four.has("x_007.tif"));
    EXPECT_FALSE(four.has("x_00007.tif"));
    EXPECT_FALSE(names_of("1*1.tif").has("11.tif"));
}

TEST(SliceNames, AreNoneOfOtherFiles) {
    for (const char* file :
         {"a.tif", "*/a.tif", "x_*.tif.partial", "x_*.tif.journal", "x_*.npy", "x_%d.h5",
          "x_*_*.tif", "x_*_%d.tif", "x_%4d.tif", "x_%0000000012d.tif", "x_%s.tif", "100%.tif"}) {
        EXPECT_FALSE(SliceNames::of(file)) << file;
    }
    EXPECT_EQ(slices_fault("100%.tif"), "");
    EXPECT_NE(slices_fault("x_*_%d.tif").find("holds * and %d"), std::string::npos);
    EXPECT_NE(slices_fault("x_%4d.tif").find("%05d"), std::string::npos);
    EXPECT_NE(slices_fault("x_*.npy").find(".png"), std::string::npos);
}

TEST(SliceNames, FindWhatIsThere) {
    const ScratchFolder folder;
    const std::string file = folder / "x_*.tif";
    EXPECT_FALSE(is_output_there(file));
    EXPECT_EQ(mark_of_output(file).bytes, mark_of(folder / "none").bytes);
    for (const char* name : {"x_10.tif", "x_9.tif", "x_a.tif", "x_*.tif.identity"}) {
        std::ofstream(folder / name) << "123";
    }
    EXPECT_EQ(names_of(file).there(), (std::vector<std::string>{"x_10.tif", "x_9.tif"}));
    EXPECT_TRUE(is_output_there(file));
    EXPECT_EQ(mark_of_output(file).bytes, 6);
    EXPECT_EQ(mark_of_output(file).modified, std::max(mark_of(folder / "x_9.tif").modified,
                                                      mark_of(folder / "x_10.tif").modified));
    EXPECT_EQ(mark_of_output(folder / "x_a.tif"), mark_of(folder / "x_a.tif"));
}

} // namespace
} // namespace runner
