// SPDX-License-Identifier: BSD-3-Clause
#include "base/sizes.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(ParseMemorySize, ReadsEveryUnit) {
    const std::vector<std::pair<std::string, std::int64_t>> amounts = {{"1B", 1},
                                                                       {"4096B", 4096},
                                                                       {"3kB", 3000},
                                                                       {"2MB", 2'000'000},
                                                                       {"1GB", 1'000'000'000},
                                                                       {"1TB", 1'000'000'000'000},
                                                                       {"7KiB", 7168},
                                                                       {"2MiB", 2'097'152},
                                                                       {"2GiB", 2'147'483'648},
                                                                       {"1TiB", 1'099'511'627'776},
                                                                       {"1.5 GB", 1'500'000'000},
                                                                       {"0.5KiB", 512}};
    for (const auto& [text, bytes] : amounts) {
        EXPECT_EQ((MemorySize{bytes, 0}), parse_memory_size(text)) << text;
    }
    EXPECT_EQ((MemorySize{0, 0.8}), parse_memory_size("80%"));
    EXPECT_EQ((MemorySize{0, 1.0}), parse_memory_size("100 %"));
}

TEST(ParseMemorySize, RefusesAnythingElse) {
    for (const char* text :
         {"", "GiB", "12", "12 apples", "-1GiB", "0B", "0%", "101%", "1e3B", "nanB", "infB",
          "1GiB ", "0.1B", "9223372036854775808B", "99999999TiB"}) {
        EXPECT_FALSE(parse_memory_size(text).has_value()) << text;
    }
}

TEST(MemorySize, IsBytesOrAShareOfWhatThereIs) {
    EXPECT_EQ(123, (MemorySize{123, 0}).of(1000));
    EXPECT_EQ(250, (MemorySize{0, 0.25}).of(1000));
}

TEST(SizeText, HasThreeOrFourDigitsAndAUnit) {
    EXPECT_EQ("0 B", size_text(0));
    EXPECT_EQ("317 B", size_text(317));
    EXPECT_EQ("1023 B", size_text(1023));
    EXPECT_EQ("1.00 KiB", size_text(KiB));
    EXPECT_EQ("1.50 GiB", size_text(3 * GiB / 2));
    EXPECT_EQ("9.50 KiB", size_text(19 * KiB / 2));
    EXPECT_EQ("10.0 KiB", size_text(10 * KiB));
    EXPECT_EQ("10.5 KiB", size_text(21 * KiB / 2));
    EXPECT_EQ("99.5 MiB", size_text(199 * MiB / 2));
    EXPECT_EQ("100 MiB", size_text(100 * MiB));
    EXPECT_EQ("8.00 EiB", size_text(std::numeric_limits<std::int64_t>::max()));
}

TEST(EnoughText, IsNoLessAndCanBeReadBack) {
    EXPECT_EQ("1KiB", enough_text(1));
    EXPECT_EQ("10KiB", enough_text(9625));
    EXPECT_EQ("2048KiB", enough_text(2 * MiB));
    EXPECT_EQ("15872KiB", enough_text(31 * MiB / 2));
    EXPECT_EQ("16MiB", enough_text(16 * MiB));
    EXPECT_EQ("17MiB", enough_text(16 * MiB + 1));
    for (const std::int64_t bytes : {std::int64_t{1023}, 16 * MiB - 1, 5 * GiB + 7}) {
        const auto read = parse_memory_size(enough_text(bytes));
        ASSERT_TRUE(read) << bytes;
        EXPECT_GE(read->bytes, bytes);
        EXPECT_LT(read->bytes, bytes + MiB);
    }
}

} // namespace
} // namespace runner
