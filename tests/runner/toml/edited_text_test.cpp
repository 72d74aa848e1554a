// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/edited_text.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(EditedText, ReplacesAValueAndKeepsTheRest) {
    EXPECT_EQ(
        edited_text("# é\n[denoise]\nstrength = 0.6 # chosen\ncount = 8\n", "denoise.strength=0.4"),
        "# é\n[denoise]\nstrength = 0.4 # chosen\ncount = 8\n");
    EXPECT_EQ(edited_text("[median]\r\nsize = [3,\r\n  3] \r\nname = \"x\"\r\n", "median.size=5,7"),
              "[median]\r\nsize = [5,7] \r\nname = \"x\"\r\n");
    EXPECT_EQ(edited_text("[a]\nx = { y = \"é, # }\", z = [1, # ]\n 2], w = 3 }", "a.x.z=[3]"),
              "[a]\nx = { y = \"é, # }\", z = [3], w = 3 }");
    EXPECT_EQ(edited_text("[a]\nx.y = '''\n# ''' # end\n", "a.x.y=\"b\""),
              "[a]\nx.y = \"b\" # end\n");
}

TEST(EditedText, FindsAStepByNameAndNumber) {
    const std::string text = "[[step]]\nkind = \"bin\" # first\n[[step]]\n  # why\n  name = \"s\"\n"
                             "kind = \"median\"\nsize = 3\n";
    EXPECT_EQ(edited_text(text, "step.s.size=5"), text.substr(0, text.size() - 2) + "5\n");
    EXPECT_EQ(edited_text(text, "step.2.size=5"), text.substr(0, text.size() - 2) + "5\n");
    EXPECT_EQ(edited_text(text, "step.1.factors=[2, 2]"),
              "[[step]]\nfactors = [2, 2]\n" + text.substr(9));
    EXPECT_FALSE(edited_text(text, "step.t.size=5"));
    EXPECT_FALSE(edited_text(text, "step.3.size=5"));
}

TEST(EditedText, AddsAKeyBelowItsTableOrATable) {
    EXPECT_EQ(edited_text("kind = \"median\"\n[median] # mine\nsize = 3\n", "median.difference=4"),
              "kind = \"median\"\n[median] # mine\ndifference = 4\nsize = 3\n");
    EXPECT_EQ(edited_text("kind = \"median\"", "median.difference=4"),
              "kind = \"median\"\n\n[median]\ndifference = 4\n");
}

TEST(EditedText, LeavesWhatItCannotPlace) {
    EXPECT_FALSE(edited_text("median = { size = 3 }\n", "median.difference=4"));
    EXPECT_FALSE(edited_text("median.size = 3\n", "median.difference=4"));
    EXPECT_FALSE(edited_text("[median]", "median.size=4")); // without a line behind the header
    EXPECT_FALSE(edited_text("[median\n", "median.size=4"));
    EXPECT_FALSE(edited_text("[median]\nsize = 3\n", "median.size"));
    EXPECT_FALSE(edited_text("[median]\nsize = 3\n", "median.size=[1"));
}

} // namespace
} // namespace runner
