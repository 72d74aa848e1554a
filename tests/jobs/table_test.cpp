// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/table.hpp"

#include "base/text.hpp"
#include "jobs/toml_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace runner {
namespace {

/// A table of one value a key, each at line 10, 11, …, its key at column 1 and the value at 9.
TableEntries entries(TableEntries values) {
    int line = 10;
    for (auto& [key, value] : values) {
        value.place = {line, 9};
        value.key_place = {line++, 1};
    }
    return values;
}

TableValue of(auto data) { return {data, {}, {}}; }
TableValue text(const char* data) { return {std::string(data), {}, {}}; }

std::string all(const Diagnostics& diagnostics) {
    std::string lines;
    for (const auto& [place, message] : diagnostics.entries()) {
        lines +=
            std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + message + "\n";
    }
    return lines;
}

TEST(TableReader, ReadsEveryType) {
    const TableEntries table = entries({{"flag", of(true)},
                                        {"count", of(std::int64_t{7})},
                                        {"size", of(2.5)},
                                        {"name", text("abc")},
                                        {"list", of(TableArray{of(std::int64_t{1}), of(0.5)})},
                                        {"shape", of(TableArray{of(std::int64_t{3})})},
                                        {"below", of(TableEntries{{"x", of(std::int64_t{1})}})}});
    Diagnostics diagnostics;
    TableReader reader(table, {1, 1}, "run", diagnostics);
    EXPECT_EQ(reader.boolean("flag"), true);
    EXPECT_EQ(reader.integer("count", 7, 7), 7);
    EXPECT_EQ(reader.number("count"), 7.0);
    EXPECT_EQ(reader.number("size"), 2.5);
    EXPECT_EQ(reader.text("name"), "abc");
    EXPECT_EQ(reader.choice("name", {"xyz", "abc"}), 1U);
    EXPECT_EQ(reader.numbers("list"), (std::vector<double>{1, 0.5}));
    EXPECT_EQ(reader.integers("shape", 3), std::vector<std::int64_t>{3});
    std::optional<TableReader> below = reader.table("below");
    ASSERT_TRUE(below.has_value());
    EXPECT_EQ(below->name(), "run.below");
    EXPECT_EQ(below->integer("x"), 1);
    below->finish();
    reader.finish();
    EXPECT_EQ(all(diagnostics), "");
}

TEST(TableReader, AbsentKeysAreNothingAndNoError) {
    const TableEntries table;
    Diagnostics diagnostics;
    TableReader reader(table, {1, 1}, "", diagnostics);
    EXPECT_FALSE(reader.has("a"));
    EXPECT_FALSE(reader.boolean("a") || reader.integer("a") || reader.number("a") ||
                 reader.text("a") || reader.choice("a", {"b"}) || reader.integers("a", 0) ||
                 reader.numbers("a") || reader.table("a"));
    EXPECT_EQ(reader.value("a"), nullptr);
    reader.finish();
    EXPECT_EQ(all(diagnostics), "");
}

TEST(TableReader, ReportsWrongTypesAndRangesWithPlaceAndName) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const TableEntries table = entries({{"a", text("1")},
                                        {"b", of(std::int64_t{0})},
                                        {"c", of(std::int64_t{9})},
                                        {"d", of(nan)},
                                        {"e", of(std::monostate{})},
                                        {"f", of(TableArray{of(true)})},
                                        {"g", of(TableEntries{})},
                                        {"h", text("wrapp")}});
    Diagnostics diagnostics;
    TableReader reader(table, {1, 1}, "run", diagnostics);
    EXPECT_FALSE(reader.integer("a"));
    EXPECT_FALSE(reader.integer("b", 1));
    EXPECT_FALSE(reader.integer("c", 1, 8));
    EXPECT_FALSE(reader.number("d"));
    EXPECT_FALSE(reader.text("e"));
    EXPECT_FALSE(reader.numbers("f"));
    EXPECT_FALSE(reader.boolean("g"));
    EXPECT_FALSE(reader.choice("h", {"wrap", "mirror"}));
    reader.complain("gone", "must go");
    reader.missing("taps", "a list");
    EXPECT_EQ(all(diagnostics),
              "10:9: run.a: expected an integer, got a string\n"
              "11:9: run.b: must be at least 1, got 0\n"
              "12:9: run.c: must be from 1 to 8, got 9\n"
              "13:9: run.d: must be a finite number, got nan\n"
              "14:9: run.e: expected a string, got a date or time\n"
              "0:0: run.f: expected an array of numbers, got a boolean in it\n"
              "16:9: run.g: expected a boolean (true or false), got a table\n"
              "17:9: run.h: unknown value \"wrapp\"; did you mean \"wrap\"? Possible: wrap, "
              "mirror\n"
              "1:1: run.gone: must go\n"
              "1:1: run.taps is missing: write a list\n");
}

TEST(TableReader, FinishReportsKeysNeverAskedFor) {
    const TableEntries table = entries({{"lanes", of(std::int64_t{1})},
                                        {"chunk_row", of(std::int64_t{1})},
                                        {"colour", of(std::int64_t{1})},
                                        {"two\nlines", of(std::int64_t{1})}});
    Diagnostics diagnostics;
    TableReader reader(table, {1, 1}, "run", diagnostics);
    reader.integer("lanes");
    reader.integer("chunk_rows");
    reader.finish();
    EXPECT_EQ(all(diagnostics), "11:1: run.chunk_row: unknown key; did you mean chunk_rows?\n"
                                "12:1: run.colour: unknown key; [run] takes lanes, chunk_rows\n"
                                "13:1: run.\"two\\nlines\": unknown key; [run] takes lanes, "
                                "chunk_rows\n");
}

TEST(NearestName, FindsSlipsAndNothingElse) {
    const std::vector<std::string> names = {"reflect", "mirror", "wrap", "nearest"};
    EXPECT_EQ(nearest_name("relfect", names), "reflect"); // two letters swapped
    EXPECT_EQ(nearest_name("MIRROR", names), "mirror");
    EXPECT_EQ(nearest_name("wrp", names), "wrap");
    EXPECT_EQ(nearest_name("nearests", names), "nearest");
    EXPECT_EQ(nearest_name("constant", names), std::nullopt);
    EXPECT_EQ(nearest_name("", names), std::nullopt);
    EXPECT_EQ(nearest_name("gpu", {"cpu"}), std::nullopt); // as likely cuda
    EXPECT_EQ(nearest_name("x", {"y"}), std::nullopt);     // nothing in common
    EXPECT_EQ(nearest_name(std::string(100000, 'r'), names), std::nullopt);
}

TEST(TomlText, ReadsBackAndStaysOnOneLine) {
    EXPECT_EQ(toml_text(2.0), "2.0");
    EXPECT_EQ(toml_text(0.1), "0.1");
    EXPECT_EQ(toml_text(1e300), "1e+300");
    EXPECT_EQ(toml_text(-std::numeric_limits<double>::infinity()), "-inf");
    EXPECT_EQ(toml_text(std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(toml_text("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
    const std::vector<double> taps = {0.25, 1};
    EXPECT_EQ(toml_text(std::span<const double>(taps)), "[0.25, 1.0]");
    EXPECT_EQ(quoted_text("short"), "\"short\"");
    EXPECT_EQ(quoted_text(std::string(70, 'a')), "\"" + std::string(60, 'a') + "…\"");
    EXPECT_EQ(quoted_text(std::string(59, 'a') + "é and more"),
              "\"" + std::string(59, 'a') + "…\"");
}

} // namespace
} // namespace runner
