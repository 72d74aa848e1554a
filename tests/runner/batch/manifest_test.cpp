// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/manifest.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace runner::batch {
namespace {

/// What is said against the text.
std::string refusal(const std::string& text) {
    try {
        parse_manifest(text, "list");
        return "";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
}

TEST(Manifest, IsAPathALine) {
    const auto entries = parse_manifest("\xef\xbb\xbf# scans\n\na.h5\r\nb c/d\t.h5", "list");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].input, "a.h5");
    EXPECT_EQ(entries[0].place, "list:3:1");
    EXPECT_EQ(entries[1].input, "b c/d\t.h5");
    EXPECT_TRUE(entries[1].settings.empty());
}

TEST(Manifest, IsATableWithKeys) {
    const auto entries = parse_manifest("input.file\tconvolve.boundary\toutput.file\trun.lanes\n"
                                        "a.h5\twrap\tx.h5\t2\n"
                                        "b.h5\t\"mirror\"\n"
                                        "c.h5\t\t\t[1, 2\n",
                                        "list");
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_EQ(entries[0].output, "x.h5");
    ASSERT_EQ(entries[0].settings.size(), 2U);
    EXPECT_EQ(entries[0].settings[0].text, "convolve.boundary=\"wrap\"");
    EXPECT_EQ(entries[0].settings[0].place, "list:2:6");
    EXPECT_EQ(entries[0].settings[1].text, "run.lanes=2");
    EXPECT_EQ(entries[1].settings.at(0).text, "convolve.boundary=\"mirror\"");
    EXPECT_FALSE(entries[1].output);
    EXPECT_EQ(entries[2].settings.at(0).text, "run.lanes=\"[1, 2\""); // no TOML: a text
}

TEST(Manifest, InputsStandInAnyColumn) {
    for (const char* text : {"output.file\tinput.file\trun.lanes\nx.h5\ta.h5\t2\n",
                             "path\toutput.file\trun.lanes\na.h5\tx.h5\t2\n"}) {
        const auto entries = parse_manifest(text, "list");
        ASSERT_EQ(entries.size(), 1U);
        EXPECT_EQ(entries[0].input, "a.h5");
        EXPECT_EQ(entries[0].output, "x.h5");
        EXPECT_EQ(entries[0].settings.at(0).text, "run.lanes=2");
    }
}

TEST(Manifest, TellsEveryError) {
    EXPECT_EQ(refusal("run.lanes\toutput.file\n2\tx.h5\n"),
              "the list of inputs is wrong (list): 1 error\n"
              "list:1:1: no column is called \"input.file\"");
    EXPECT_EQ(refusal("# nothing\n"), "the list of inputs is wrong (list): 1 error\n"
                                      "list:1:1: lists no input");
    EXPECT_EQ(refusal("input.file\t\trun.lanes\trun.lanes\tkind\n"
                      "a.h5\n"
                      "\t\t2\n"
                      "b.h5\t\t\t\t\t6\n"),
              "the list of inputs is wrong (list): 5 errors\n"
              "list:1:12: a column has no name; write table.key, as in the job file\n"
              "list:1:23: two columns are called \"run.lanes\"\n"
              "list:1:33: \"kind\" is one for the whole batch\n"
              "list:3:1: names no input\n"
              "list:4:10: has 6 cells, and 5 columns have a name");
}

} // namespace
} // namespace runner::batch
