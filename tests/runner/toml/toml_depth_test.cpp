// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/toml_values.hpp"

#include <gtest/gtest.h>

#include <string>

namespace runner {
namespace {

std::string times(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
        all += text;
    }
    return all;
}

/// "line:column", or "" where the text is not too deep.
std::string place(const std::string& text) {
    const std::optional<SourcePlace> found = too_deep(text);
    return found ? std::to_string(found->line) + ":" + std::to_string(found->column) : "";
}

TEST(TooDeep, AllowsSixtyFourBrackets) {
    EXPECT_EQ(place("a = " + times("[", 64)), "");
    EXPECT_EQ(place("a = " + times("[", 65)), "1:69"); // the 65th, behind four characters
    EXPECT_EQ(place("a = " + times("[{", 32)), "");
    EXPECT_EQ(place("b = 1\na = " + times("[{", 33)), "2:69");
}

TEST(TooDeep, CountsOnlyBracketsThatAreOpen) {
    EXPECT_EQ(place(times("[]", 100)), "");
    EXPECT_EQ(place(times("{}", 100)), "");
    EXPECT_EQ(place(times("]", 100) + times("[", 64)), ""); // none is open before the first
    EXPECT_EQ(place(times("]", 100) + times("[", 65)), "1:165");
}

TEST(TooDeep, AllowsThirtyTwoDotsInAKey) {
    EXPECT_EQ(place("a" + times(".a", 32) + " = 1"), "");
    EXPECT_EQ(place("a" + times(".a", 33) + " = 1"), "1:66"); // the 33rd of a dot in two characters
    EXPECT_EQ(place("[a" + times(" . a", 33) + "]"), "1:132");
}

TEST(TooDeep, BeginsToCountDotsWithEachKey) {
    for (const std::string end : {"=", ",", "\n", "[", "]", "{", "}"}) {
        const std::string many = "a" + times(".a", 20);
        EXPECT_EQ(place(many + end + many), "") << end;
        EXPECT_NE(place(many + " " + many), "") << end;
    }
}

TEST(TooDeep, PassesOverStringsAndComments) {
    const std::string deep = times("[.", 100);
    EXPECT_EQ(place("a = \"" + deep + "\""), "");
    EXPECT_EQ(place("a = '" + deep + "'"), "");
    EXPECT_EQ(place("a = \"\\\"" + deep + "\""), ""); // an escaped quote ends nothing
    EXPECT_EQ(place("a = \"\"\"\n\"\" " + deep + "\n\"\"\""), "");
    EXPECT_EQ(place("a = '''\n'' " + deep + "\n'''"), "");
    EXPECT_EQ(place("# " + deep + "\na = 1"), "");
    EXPECT_EQ(place("# " + deep), "");
}

TEST(TooDeep, GoesOnBehindStringsAndComments) {
    const std::string deep = times("[", 65);
    EXPECT_EQ(place("# c\n" + deep), "2:65");
    EXPECT_EQ(place("\"s\"" + deep), "1:68");
    EXPECT_EQ(place("'\\'" + deep), "1:68"); // a literal string has no escapes
    EXPECT_EQ(place("\"\"" + deep), "1:67");
    EXPECT_EQ(place("\"\"\"a\"\"\"\"\"" + deep), "1:74"); // two more quotes are the text's
    EXPECT_EQ(place("'''\n'''" + deep), "2:68");
    EXPECT_EQ(place("\"never closed\n" + deep), "2:65");
}

TEST(TooDeep, TakesAnyBytes) {
    EXPECT_EQ(place(""), "");
    EXPECT_EQ(place("\""), "");
    EXPECT_EQ(place("\"\\"), "");
    EXPECT_EQ(place("'''"), "");
    EXPECT_EQ(place(std::string("\0\xff\xfe.[", 5)), "");
}

} // namespace
} // namespace runner
