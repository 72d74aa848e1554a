// SPDX-License-Identifier: BSD-3-Clause
#include "base/extremes.hpp"

#include <cstdint>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

namespace runner {
namespace {

ArrayInfo of(ElementType type) { return {type, {1}}; }

TEST(Extremes, TextsHoldEveryNumber) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::int64_t least = std::numeric_limits<std::int64_t>::min();
    const double small = std::numeric_limits<double>::denorm_min();
    const double large = std::numeric_limits<double>::max();
    const Extremes natural = {ValueRange{std::uint64_t{0}, most}, std::nullopt};
    const Extremes integers = {std::nullopt, ValueRange{least, std::int64_t{7}}};
    const Extremes floats = {ValueRange{-large, small}, ValueRange{0.1, 3.0}};
    EXPECT_EQ(to_text(natural), "[[0,18446744073709551615],null]");
    EXPECT_EQ(extremes_of_text(to_text(natural), of(ElementType::uint64)), natural);
    EXPECT_EQ(extremes_of_text(to_text(integers), of(ElementType::int64)), integers);
    EXPECT_EQ(extremes_of_text(to_text(floats), of(ElementType::float64)), floats);
}

TEST(Extremes, OtherTextsAreNone) {
    for (const char* const text :
         {"", "[[1]]", "[[1,true]]", "[[1,2]", "[[1,2.5]]", "[[\"1\",2]]"}) {
        EXPECT_FALSE(extremes_of_text(text, of(ElementType::int16))) << text;
    }
    EXPECT_FALSE(extremes_of_text("[[-1,2]]", of(ElementType::uint64)));
    EXPECT_FALSE(extremes_of_text("[[1,18446744073709551616]]", of(ElementType::uint64)));
}

TEST(Extremes, AreJoinedByChannel) {
    Extremes all;
    join(all, {ValueRange{std::int64_t{-3}, std::int64_t{2}}, std::nullopt});
    join(all, {ValueRange{std::int64_t{0}, std::int64_t{5}},
               ValueRange{std::int64_t{1}, std::int64_t{1}}});
    join(all, {});
    const Extremes wanted = {ValueRange{std::int64_t{-3}, std::int64_t{5}},
                             ValueRange{std::int64_t{1}, std::int64_t{1}}};
    EXPECT_EQ(all, wanted);
}

} // namespace
} // namespace runner
