// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.hpp"

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
    EXPECT_EQ(printable("\xc2\x9b"), "\xc2\\x9b");
}

} // namespace
} // namespace runner
