// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/toml_errors.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runner {
namespace {

std::string refusal(const std::vector<Diagnostics::Entry>& entries,
                    const std::vector<std::string>& settings = {},
                    const std::vector<std::string>& called = {}) {
    Diagnostics diagnostics;
    for (const auto& [place, text] : entries) {
        diagnostics.add(place, text);
    }
    try {
        refuse_toml("the job file is wrong", "a\nb.toml", diagnostics, settings, called);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
}

const std::string head = "the job file is wrong (a\\x0ab.toml): ";

TEST(RefuseToml, TellsErrorsInTheOrderOfTheFileAndSettingsBehind) {
    EXPECT_EQ(refusal({{{9, 2, 0}, "last"},
                       {{1, 1, 2}, "of two"},
                       {{2, 10, 0}, "second"},
                       {{1, 1, 1}, "of one"},
                       {{2, 9, 0}, "first"},
                       {{2, 10, 0}, "second again"}},
                      {"x=1", "y=2"}),
              head + "6 errors\na\\x0ab.toml:2:9: first\na\\x0ab.toml:2:10: second\n"
                     "a\\x0ab.toml:2:10: second again\na\\x0ab.toml:9:2: last\n"
                     "--set x=1: of one\n--set y=2: of two");
    EXPECT_EQ(refusal({{{1, 1, 0}, "a\x1b[31m"}}), head + "1 error\na\\x0ab.toml:1:1: a\\x1b[31m");
}

TEST(RefuseToml, CallsSettingsAsItIsTold) {
    EXPECT_EQ(refusal({{{1, 1, 1}, "one"}, {{1, 1, 2}, "two"}}, {"x=1", "y=2"}, {"", "--until a"}),
              head + "2 errors\n--set x=1: one\n--until a: two");
}

TEST(RefuseToml, QuotesSettingsThatAreNoLine) {
    EXPECT_EQ(refusal({{{1, 1, 1}, "odd"}}, {"x=1\ny=2"}),
              head + "1 error\n--set \"x=1\\ny=2\": odd");
    const std::string told = refusal({{{1, 1, 1}, "long"}}, {"x='" + std::string(300, 'a') + "'"});
    EXPECT_LT(told.size(), 160U) << told;
    EXPECT_NE(told.find("--set \"x='aaa"), std::string::npos) << told;
}

TEST(RefuseToml, TellsTwentyAtMost) {
    std::vector<Diagnostics::Entry> entries;
    for (int line = 1; line <= 20; ++line) {
        entries.push_back({{line, 1, 0}, "wrong"});
    }
    EXPECT_EQ(refusal(entries).find("more"), std::string::npos);
    entries.push_back({{21, 1, 0}, "wrong"});
    const std::string told = refusal(entries);
    EXPECT_TRUE(told.starts_with(head + "21 errors\n")) << told;
    EXPECT_TRUE(told.ends_with("a\\x0ab.toml:20:1: wrong\nand 1 more")) << told;
}

} // namespace
} // namespace runner
