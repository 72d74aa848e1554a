// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(Printable, LeavesTextAlone) {
    EXPECT_EQ(printable("Größe \"x\" \\ 100 %, 日本"), "Größe \"x\" \\ 100 %, 日本");
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, ShowsControlCharacters) {
    EXPECT_EQ(printable("a\x1b[31m\n\x7f\t"), "a\\x1b[31m\\x0a\\x7f\\x09");
    EXPECT_EQ(printable(std::string_view("\0b", 2)), "\\x00b");
    // U+009B, which starts a terminal's command as ESC [ does.
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
    EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0"); // the first character beyond
    // U+202E, after which text runs from right to left; U+2028, a line break.
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "x"
                        "\xe2\x80\xa8"),
              "\\xe2\\x80\\xaex\\xe2\\x80\\xa8");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
    for (const std::string bad : {"\x80", "\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                                  "\xf4\x90\x80\x80", "\xe2\x82"}) {
        std::string shown = printable("a" + bad + "b");
        EXPECT_EQ(shown.size(), 2 + 4 * bad.size()) << shown;
        EXPECT_EQ(printable(shown), shown);
        EXPECT_FALSE(is_utf8("a" + bad));
        EXPECT_TRUE(is_utf8(shown));
    }
    // A lead byte does not hide what follows it.
    EXPECT_EQ(printable("\xe2\x1b["), "\\xe2\\x1b[");
    EXPECT_EQ(printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
}

TEST(Printable, LeavesTheLinesOfAText) {
    EXPECT_EQ(printable_lines("a\nb\r\x1b\n"), "a\nb\\x0d\\x1b\n");
}

TEST(Printable, EscapesJsonAsJson) {
    EXPECT_EQ(printable_json("{\n\"a\": \"\x7f\xc2\x9bö\\n\"}\n"),
              "{\n\"a\": \"\\u007f\\u009bö\\n\"}\n");
}

} // namespace
} // namespace runner
