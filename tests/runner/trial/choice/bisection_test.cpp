// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/choice/bisection.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runner::trial {
namespace {

/// The values that are tried until the end, where those beyond `limit` are too strong.
std::vector<double> tried(Bisection& bisection, double limit, bool rises = true) {
    std::vector<double> values;
    while (const std::optional<double> value = bisection.next()) {
        values.push_back(*value);
        const bool is_strong = rises ? *value > limit : *value < limit;
        bisection.judge(is_strong ? Strength::too_strong : Strength::too_weak);
    }
    return values;
}

TEST(Bisection, FindsTheLastIntegerThatIsNotTooStrong) {
    for (int limit = -3; limit < 61; ++limit) {
        const HalvedKey key = parse_halved_key("denoise.count=-3..61");
        Bisection bisection(key);
        EXPECT_LE(tried(bisection, limit).size(), 6U);
        EXPECT_EQ(bisection.chosen(), limit);
        EXPECT_EQ(key.setting(bisection.too_strong()),
                  "denoise.count=" + std::to_string(limit + 1));
    }
}

TEST(Bisection, NarrowsTheRangeOfFloatsToA32nd) {
    for (double limit = 0.21; limit < 1; limit += 0.01) {
        Bisection rising(parse_halved_key("denoise.strength=0.2..1.0"));
        EXPECT_LE(tried(rising, limit).size(), 6U);
        EXPECT_LE(rising.chosen(), limit);
        EXPECT_GT(rising.too_strong(), limit);
        EXPECT_LE(rising.too_strong() - rising.chosen(), 0.8 / 32);
        Bisection falling(parse_halved_key("denoise.strength=1.0..0.2"));
        EXPECT_LE(tried(falling, limit, false).size(), 6U);
        EXPECT_GE(falling.chosen(), limit);
        EXPECT_LE(falling.chosen() - falling.too_strong(), 0.8 / 32);
    }
}

TEST(Bisection, TriesNumbersWithFewDecimals) {
    const HalvedKey key = parse_halved_key("a.b=0.2..1.0");
    Bisection bisection(key);
    for (const double value : tried(bisection, 0.47)) {
        EXPECT_LE(key.text(value).size(), 4U) << key.text(value);
    }
}

TEST(Bisection, EndsWhereAValueIsRight) {
    Bisection bisection(parse_halved_key("a.b=1..9"));
    EXPECT_EQ(bisection.next(), 5);
    bisection.judge(Strength::right);
    EXPECT_FALSE(bisection.next());
    EXPECT_EQ(bisection.chosen(), 5);
}

TEST(Bisection, WritesValuesAsTheEndsAreWritten) {
    EXPECT_EQ(parse_halved_key("a.b=1..9").text(5), "5");
    EXPECT_EQ(parse_halved_key("a.b=1.0..9").text(5), "5.0");
    EXPECT_EQ(parse_halved_key("a.b=1e-3..1").text(0.25), "0.25");
}

TEST(Bisection, RefusesWhatCannotBeHalved) {
    for (const char* text :
         {"", "a.b", "a.b=", "a.b=1", "a.b=1..", "a.b=..2", "=1..2", "a.b=1..1", "a.b=1..2..3",
          "a.b=nan..1", "a.b=0..inf", "a.b=1,2", "a.b=0..9007199254740994", "a.b=-1e308..1e308",
          "a.b=\"1\"..2", "a.b= 1..2", "a.b=0x1..2", "a..b=1"}) {
        EXPECT_THROW(parse_halved_key(text), Error) << text;
    }
    // A range of two neighbouring floats has nothing between them.
    EXPECT_FALSE(Bisection(parse_halved_key("a.b=1.0..1.0000000000000002")).next());
}

} // namespace
} // namespace runner::trial
