// SPDX-License-Identifier: BSD-3-Clause
#include "base/durations.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(Durations, ReadsWhatPeopleWrite) {
    EXPECT_EQ(parse_duration("90"), 90);
    EXPECT_EQ(parse_duration("90s"), 90);
    EXPECT_EQ(parse_duration("1.5h"), 5400);
    EXPECT_EQ(parse_duration("30 min"), 1800);
    EXPECT_EQ(parse_duration("5m"), 300);
    EXPECT_EQ(parse_duration("1h30m"), 5400);
    EXPECT_EQ(parse_duration("1 h 30 min"), 5400);
    EXPECT_EQ(parse_duration("2d"), 172800);
    EXPECT_EQ(parse_duration("30:00"), 1800);
    EXPECT_EQ(parse_duration("1:30:00"), 5400);
    EXPECT_EQ(parse_duration("1-12:00:00"), 129600);
    EXPECT_EQ(parse_duration("90:00"), 5400);
    EXPECT_EQ(parse_duration("0"), 0);
    EXPECT_EQ(parse_duration("3650d"), 315360000);
}

TEST(Durations, RefusesAllElse) {
    for (const char* text :
         {"",           "s",        "-1",        "1h30",    "1 hour",  "1h-5m", "1 30m", "5mm",
          "nan",        "inf",      "1e300",     "1:60",    "1:2:3:4", ":30",   "30:",   "1-30",
          "1x-1:00:00", "-1:00:00", "315360001", "1-30:00", "0x10",    "4000d"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

TEST(Durations, ReadsNothingBehindTheText) {
    const std::string_view text = "90:305";
    EXPECT_EQ(parse_duration(text.substr(0, 1)), 9);
    EXPECT_EQ(parse_duration(text.substr(0, 5)), 5430);
}

TEST(Durations, AreToldInTwoUnitsAtMost) {
    EXPECT_EQ(duration_text(2.5), "2.5 s");
    EXPECT_EQ(duration_text(60), "1 min 0 s");
    EXPECT_EQ(duration_text(3600), "1 h 0 min");
    EXPECT_EQ(duration_text(200), "3 min 20 s");
    EXPECT_EQ(duration_text(3900), "1 h 5 min");
}

} // namespace
} // namespace runner
