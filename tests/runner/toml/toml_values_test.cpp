// SPDX-License-Identifier: BSD-3-Clause
// What TOML text becomes, place by place. Texts that are to do harm are in
// tests/runner/job_file/job_file_test.cpp.
#include "runner/toml/toml_values.hpp"

#include "jobs/toml_text.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

std::string shown(const TableValue& value);

std::string shown(const TableEntries& entries) {
    std::string text;
    for (const auto& [key, value] : entries) {
        text += (text.empty() ? "" : " ") + key + "=" + shown(value);
    }
    return "{" + text + "}";
}

/// A value on one line, tables in braces.
std::string shown(const TableValue& value) {
    struct Text {
        std::string operator()(std::monostate) const { return "time"; }
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return toml_text(number); }
        std::string operator()(const std::string& text) const { return "'" + text + "'"; }
        std::string operator()(const TableEntries& table) const { return shown(table); }
        std::string operator()(const TableArray& array) const {
            std::string text;
            for (const TableValue& each : array) {
                text += (text.empty() ? "" : " ") + shown(each);
            }
            return "[" + text + "]";
        }
    };
    return std::visit(Text(), value.data);
}

std::string shown(const Diagnostics& diagnostics) {
    std::string text;
    for (const auto& [place, wrong] : diagnostics.entries()) {
        text += std::to_string(place.setting) + ":" + std::to_string(place.line) + ":" +
                std::to_string(place.column) + ": " + wrong + "\n";
    }
    return text;
}

/// The values, or else what is wrong.
std::string parsed(const std::string& text, int setting = 0) {
    Diagnostics diagnostics;
    const std::optional<TableEntries> values = parse_toml(text, setting, diagnostics);
    EXPECT_EQ(values.has_value(), diagnostics.entries().empty());
    return values ? shown(*values) : shown(diagnostics);
}

/// The values with the settings laid over them, and what is wrong with those.
std::string laid(const std::string& text, const std::vector<std::string>& settings) {
    Diagnostics diagnostics;
    TableEntries values = parse_toml(text, 0, diagnostics).value();
    int number = 0;
    for (const std::string& setting : settings) {
        apply_setting(setting, ++number, values, diagnostics);
    }
    return shown(values) + (diagnostics.entries().empty() ? "" : " " + shown(diagnostics));
}

TEST(ParseToml, HasEveryTypeInTheOrderOfTheText) {
    EXPECT_EQ(parsed("z = 1\na = 1.5\nm = 'x'\nb = true\nl = [1, [2.0, 'y']]\nt = {q = 1, p = 2}\n"
                     "d = 2026-11-23\n"),
              "{z=1 a=1.5 m='x' b=true l=[1 [2.0 'y']] t={q=1 p=2} d=time}");
    EXPECT_EQ(parsed("[b]\ny = 1\nx = 2\n[a.c]\nk = 3\n[[s]]\nn = 1\n[[s]]\nn = 2\n"),
              "{b={y=1 x=2} a={c={k=3}} s=[{n=1} {n=2}]}");
    EXPECT_EQ(parsed(""), "{}");
}

TEST(ParseToml, HasThePlacesOfKeysAndValues) {
    Diagnostics diagnostics;
    const TableEntries values =
        parse_toml("a = 1\n[t]\n  key = [2,\n 3]\n", 4, diagnostics).value();
    EXPECT_EQ(values[0].value.key_place, (SourcePlace{1, 1, 4}));
    EXPECT_EQ(values[0].value.place, (SourcePlace{1, 5, 4}));
    const auto& table = std::get<TableEntries>(values[1].value.data);
    EXPECT_EQ(table[0].value.key_place, (SourcePlace{3, 3, 4}));
    EXPECT_EQ(table[0].value.place, (SourcePlace{3, 9, 4}));
    const auto& array = std::get<TableArray>(table[0].value.data);
    EXPECT_EQ(array[0].place, (SourcePlace{3, 10, 4}));
    EXPECT_EQ(array[1].place, (SourcePlace{4, 2, 4}));
}

TEST(ParseToml, TellsTheFirstErrorAlone) {
    const std::string told = parsed("a = 1\na = 2\nb = = 3\n", 2);
    EXPECT_EQ(told.substr(0, 4), "2:2:") << told;
    EXPECT_EQ(told.find('\n'), told.size() - 1) << told;
    EXPECT_EQ(parsed("a = " + std::string(65, '['), 3), "3:1:69: nested too deeply\n");
}

/// What is added to the parser's own words.
std::string hint(const std::string& text) {
    const std::string told = parsed(text);
    const std::size_t at = told.find("; text takes quotes: ");
    return at == std::string::npos ? "" : told.substr(at + 21, told.size() - at - 22);
}

TEST(ParseToml, SaysHowToQuoteABareWord) {
    EXPECT_EQ(hint("file = in.h5"), "file = \"in.h5\"");
    EXPECT_EQ(hint("a = 1\n\n  file\t=\t/data/my in.h5  # the scan\nb = 2"),
              "file = \"/data/my in.h5\"");
    EXPECT_EQ(hint("file = ~/in.h5\r\n"), "file = \"~/in.h5\"");
    EXPECT_EQ(hint("file = ./in.h5"), "file = \"./in.h5\"");
}

TEST(ParseToml, SaysNothingOfQuotesElsewhere) {
    for (const char* const text :
         {"file = 12 34", "file = \"in.h5", "file = in.h5\"", "file = [in.h5]", "file =", "file",
          "= word", "file = 1\nfile = 2", " = x"}) {
        EXPECT_EQ(hint(text), "") << text;
        EXPECT_NE(parsed(text).front(), '{') << text;
    }
}

TEST(ApplySetting, ReplacesAddsAndMakesTables) {
    EXPECT_EQ(laid("a = 1\n[t]\nx = 2\ny = 3\n", {"a='n'", "t.y=4"}), "{a='n' t={x=2 y=4}}");
    EXPECT_EQ(laid("a = 1", {"b=2", "t.u.v=3"}), "{a=1 b=2 t={u={v=3}}}");
    EXPECT_EQ(laid("[t]\nx = 1", {"t={y=2}"}), "{t={y=2}}"); // the whole value
    EXPECT_EQ(laid("t = 1", {"t.x=2"}), "{t={x=2}}");
    EXPECT_EQ(laid("", {"a=1", "a=2"}), "{a=2}");
    EXPECT_EQ(laid("", {"\"a b\".'c.d'=1"}), "{a b={c.d=1}}");
}

TEST(ApplySetting, MarksItsValuesWithItsNumber) {
    Diagnostics diagnostics;
    TableEntries values = parse_toml("a = 1\nb = 2", 0, diagnostics).value();
    apply_setting("b=3", 7, values, diagnostics);
    apply_setting("t.x=4", 8, values, diagnostics);
    EXPECT_EQ(values[0].value.place.setting, 0);
    EXPECT_EQ(values[1].value.place.setting, 7);
    EXPECT_EQ(values[2].value.place.setting, 8);
    EXPECT_EQ(std::get<TableEntries>(values[2].value.data)[0].value.place.setting, 8);
}

TEST(ApplySetting, PicksATableOfSeveralByNameOrNumber) {
    const std::string steps = "[[step]]\nname = 'a'\nx = 1\n[[step]]\nname = 'b'\nx = 2\n";
    EXPECT_EQ(laid(steps, {"step.b.x=5"}), "{step=[{name='a' x=1} {name='b' x=5}]}");
    EXPECT_EQ(laid(steps, {"step.1.x=5"}), "{step=[{name='a' x=5} {name='b' x=2}]}");
    EXPECT_EQ(laid(steps, {"step.2.y.z=5"}), "{step=[{name='a' x=1} {name='b' x=2 y={z=5}}]}");
    for (const std::string none : {"0", "3", "c", "01"}) {
        EXPECT_EQ(laid(steps, {"step." + none + ".x=5"}),
                  "{step=[{name='a' x=1} {name='b' x=2}]} 1:1:1: there is no step " + none +
                      "; a number from 1 to 2 or a name picks one\n");
    }
    EXPECT_EQ(laid(steps, {"step.2={x=7}"}), "{step=[{name='a' x=1} {x=7}]}"); // the whole table
    EXPECT_EQ(laid(steps, {"step.a={}", "step.1.y=3"}), "{step=[{y=3} {name='b' x=2}]}");
    EXPECT_EQ(laid(steps, {"step.2=3"}),
              "{step=[{name='a' x=1} {name='b' x=2}]} 1:1:1: expected a table, or a key of it as "
              "in step.2.key=value\n");
    // Tables in a table, and the first of the names that are numbers.
    EXPECT_EQ(laid("[[t.s]]\nx = 1", {"t.s.1.x=2"}), "{t={s=[{x=2}]}}");
    EXPECT_EQ(laid("[[s]]\nname = '2'\n[[s]]\nx = 1", {"s.2.x=7"}), "{s=[{name='2' x=7} {x=1}]}");
}

TEST(ApplySetting, LeavesTheValuesWhereItIsNone) {
    const std::string no_value = "the value is not one of TOML: text takes quotes, as in '";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"a", "expected table.key=value"},
        {"", "expected table.key=value"},
        {"a#=1", "expected table.key=value"},
        {"[t]\nx=1", "expected table.key=value"},
        {"=1", "expected table.key=value, but the key is not one of TOML"},
        {"a..b=1", "expected table.key=value, but the key is not one of TOML"},
        {"a b=1", "expected table.key=value, but the key is not one of TOML"},
        {"a=\xff.h5",
         "it is no text of UTF-8, which a job file is; rename a file of such a name, or "
         "make a link to it with another name"},
        {"a=", no_value + "a=\"text\"'"},
        {"a=\"open", no_value + "a=\"text\"'"},
        {"a=1\nb=2", no_value + "a=\"text\"'"},
        {"t.a=1\nt.b=2", no_value + "t.a=\"text\"'"},
        {"t.a=1\n[u]", no_value + "t.a=\"text\"'"},
    };
    for (const auto& [setting, wrong] : cases) {
        EXPECT_EQ(laid("a = 0", {"x=1", setting}), "{a=0 x=1} 2:1:1: " + wrong + "\n") << setting;
    }
}

} // namespace
} // namespace runner
