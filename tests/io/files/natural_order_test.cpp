// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_names.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Names = std::vector<std::string>;

TEST(NaturalOrder, CountsDigitsAsANumber) {
    const Names sorted = {"a",
                          "a/s1.tif",
                          "a/s2.tif",
                          "a/s10.tif",
                          "a/s0010.tif",
                          "a/s11",
                          "a/s11.tif",
                          "a/s99999999999999999999.tif",
                          "a/s100000000000000000000.tif",
                          "a1b2",
                          "a1b10",
                          "a01b11",
                          "b"};
    Names names = sorted;
    std::reverse(names.begin(), names.end());
    std::sort(names.begin(), names.end(),
              [](const std::string& a, const std::string& b) { return natural_less(a, b); });
    EXPECT_EQ(names, (Names{"a", "a/s1.tif", "a/s2.tif", "a/s0010.tif", "a/s10.tif", "a/s11",
                            "a/s11.tif", "a/s99999999999999999999.tif",
                            "a/s100000000000000000000.tif", "a1b2", "a1b10", "a01b11", "b"}));
    for (const std::string& name : sorted) {
        EXPECT_FALSE(natural_less(name, name));
    }
}

TEST(NaturalOrder, FindsTheFirstGap) {
    EXPECT_EQ(first_gap({"s1", "s2", "s3"}), "");
    EXPECT_EQ(first_gap({"s08.tif", "s09.tif", "s11.tif", "s12.tif", "s20.tif"}),
              "nothing between s09.tif and s11.tif");
    EXPECT_EQ(first_gap({"s10", "s20", "s30"}), "");
    EXPECT_EQ(first_gap({"s9", "s10", "s12"}), "nothing between s10 and s12");
    EXPECT_EQ(first_gap({"a", "b", "d"}), "");
    EXPECT_EQ(first_gap({"a1", "a2", "b5"}), "");
    EXPECT_EQ(first_gap({"a1_x", "a2_x", "a4_y"}), "");
    EXPECT_EQ(first_gap({"a1", "a5"}), "");
    EXPECT_EQ(first_gap({}), "");
}

TEST(NameLength, LeavesRoomForTheNamesBesideAnOutput) {
    const std::string fits(229, 'n');
    EXPECT_EQ(name_length_fault(fits), "");
    EXPECT_EQ(name_length_fault("no such folder/" + fits), "");
    for (const std::string& name : {fits + "n", "/" + fits + "n", "no such folder/" + fits + "n"}) {
        EXPECT_EQ(name_length_fault(name).find("has 230 bytes in its last part"), 0U) << name;
        EXPECT_NE(name_length_fault(name).find("shorten it to 229"), std::string::npos);
    }
}

} // namespace
} // namespace runner
