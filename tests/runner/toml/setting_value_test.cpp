// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/setting_value.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace runner {
namespace {

TEST(SettingValue, ValuesOfTomlStayAsTheyAre) {
    for (const char* value :
         {"3", "-0.5", "1e6", "0x10", "true", "inf", "nan", "\"text\"", "'text'", "[3, 3]",
          "{ box = { radius = 2 } }", " 4 ", "3 # a note", "2026-11-26"}) {
        EXPECT_EQ(setting_value(value), value);
    }
}

TEST(SettingValue, TextAndListsOfNumbersNeedNoMarks) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"word", "\"word\""},    {"out/a b.h5", "\"out/a b.h5\""},
        {"  word ", "\"word\""}, {"it's \\", "\"it's \\\\\""},
        {"::3", "\"::3\""},      {"10:20,:", "\"10:20,:\""},
        {"True", "\"True\""},    {"08", "\"08\""},
        {"3,5", "[3,5]"},        {"1, 2.5, -3e2", "[1, 2.5, -3e2]"},
        {"3,x", "\"3,x\""},      {"3,", "\"3,\""},
        {"a=b", "\"a=b\""},
    };
    for (const auto& [given, value] : cases) {
        EXPECT_EQ(setting_value(given), value) << given;
    }
}

TEST(SettingValue, BrokenTomlIsNotTakenForText) {
    for (const char* value : {"", " ", "\"open", "'open", "[1, 2", "{ a = ", "word # a note",
                              "1\nb = 2", "word\nb = 2", "a\tb\x01", "\x7f"}) {
        EXPECT_EQ(setting_value(value), value);
    }
}

} // namespace
} // namespace runner
