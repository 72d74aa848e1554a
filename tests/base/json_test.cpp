// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace runner {
namespace {

std::string error_of(const std::string& text) {
    try {
        (void)Json::parse(text);
    } catch (const JsonError& error) {
        return error.what();
    }
    return "none";
}

TEST(Json, WritesMembersInTheirOrder) {
    Json json = {{"z", 1}, {"a", "x\n\"\x1b"}, {"list", std::vector<std::int64_t>{1, -2}}};
    json["more"]["deep"] = true;
    json["z"] = 2;
    EXPECT_EQ(json.text(), R"({"z":2,"a":"x\n\"\u001b","list":[1,-2],"more":{"deep":true}})");
    EXPECT_EQ(json.lines(2), "{\n  \"z\": 2,\n  \"a\": \"x\\n\\\"\\u001b\",\n  \"list\": [\n"
                             "    1,\n    -2\n  ],\n  \"more\": {\n    \"deep\": true\n  }\n}\n");
}

TEST(Json, WritesEmptyValues) {
    EXPECT_EQ(Json().lines(2), "null\n");
    EXPECT_EQ(Json::array().lines(2), "[]\n");
    EXPECT_EQ(Json::object().lines(2), "{}\n");
    EXPECT_EQ((Json{{"a", Json::array()}}).text(), R"({"a":[]})");
}

TEST(Json, KeepsWhatFitsOnOneLine) {
    const Json json = {{"a", Json::array(1, 2)}, {"b", Json::array(1, 2, 3)}};
    EXPECT_EQ(json.lines(1, 5), "{\n \"a\": [1,2],\n \"b\": [\n  1,\n  2,\n  3\n ]\n}\n");
    EXPECT_EQ(json.lines(1, json.text().size()), json.text() + "\n");
    EXPECT_EQ(json.lines(1, json.text().size() - 1), "{\n \"a\": [1,2],\n \"b\": [1,2,3]\n}\n");
}

TEST(Json, WritesAsTheLibraryDoes) {
    const std::string text = R"({"a": [[], {}, [1, [2.5e-7, 1e300, -0.0, -3]], null, true, false],
        "ä\u0001\u007f\ud83d\ude00\\/": {"": "", "x": {"y": [18446744073709551615]}},
        "number": -9223372036854775808})";
    const auto library = nlohmann::ordered_json::parse(text);
    const Json json = Json::parse(text);
    EXPECT_EQ(json.text(), library.dump());
    EXPECT_EQ(json.lines(3), library.dump(3) + "\n");
}

TEST(Json, WritesNumbersThatReadBackTheSame) {
    for (const double number : {0.1, 1e-300, 123456789.125, -2.0}) {
        EXPECT_EQ(Json::parse(Json(number).text()).get<double>(), number);
    }
    EXPECT_EQ(Json(1.0).text(), "1.0");
    EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).text(), "18446744073709551615");
    EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
    EXPECT_EQ(Json(std::nan("")).text(), "null");
    EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
}

TEST(Json, ReplacesBytesThatAreNoText) {
    EXPECT_EQ((Json{{"\xc3", "a\xff"}}).text(), "{\"\xef\xbf\xbd\":\"a\xef\xbf\xbd\"}");
}

TEST(Json, KeepsTheLastOfEqualNames) {
    const Json json = Json::parse(R"({"a":[1],"b":2,"a":3})");
    EXPECT_EQ(json.text(), R"({"a":3,"b":2})");
    EXPECT_EQ(json.values().size(), 2U);
}

TEST(Json, SaysWhereTextIsNotJson) {
    for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":1}x", "{\"a\"}", "\x01", "\"\xff\"",
                             "1e999", "[1}", "{1:2}", "\xef\xbb"}) {
        EXPECT_NE(error_of(text), "none") << text;
    }
    EXPECT_EQ(error_of("[1,\n x]"), "it is not valid JSON at line 2, column 2");
    EXPECT_EQ(error_of("[1, }]"), "it is not valid JSON at line 1, column 5");
    EXPECT_EQ(error_of("[1"), "it is not valid JSON at line 1, column 3"); // behind the end
    EXPECT_EQ(error_of(""), "it is not valid JSON at line 1, column 1");
}

TEST(Json, ReadsNumbersThatPythonWrites) {
    const Json json = Json::parse(
        R"({"NaN": NaN, "a": [1, 2.5, -Infinity, 0e0, Infinity, NaN], "b": "\\", "c": "NaN\" NaN"})");
    EXPECT_TRUE(std::isnan(json.at("NaN").get<double>()));
    const Json& list = json.at("a");
    EXPECT_EQ(list.at(0).get<int>(), 1);
    EXPECT_EQ(list.at(1).get<double>(), 2.5);
    EXPECT_EQ(list.at(2).get<double>(), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(list.at(3).get<double>(), 0.0);
    EXPECT_EQ(list.at(4).get<double>(), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(list.at(5).get<double>()));
    EXPECT_EQ(json.at("c").get<std::string>(), "NaN\" NaN");
    EXPECT_EQ(json.at("b").get<std::string>(), "\\");
    for (const char* text : {"1NaN", "NaN1", "-NaN", "nan", "+Infinity", "{NaN: 1}", "[NaN NaN]",
                             "\"NaN", "NaNInfinity"}) {
        EXPECT_NE(error_of(text), "none") << text;
    }
    EXPECT_EQ(error_of("[NaN,\n -Infinity, x]"), "it is not valid JSON at line 2, column 13");
}

TEST(Json, TakesAnyDepth) {
    constexpr std::size_t depth = 250'000; // 8 MiB of stack are 32 bytes a level
    EXPECT_NE(error_of(std::string(depth, '[')), "none");
    EXPECT_TRUE(
        Json::parse(std::string(depth, '[') + std::string(depth, ']')).at(0).at(0).is_array());
    std::string open;
    std::string close;
    for (std::size_t i = 0; i < depth / 2; ++i) {
        open += R"([{"a":)";
        close += "}]";
    }
    EXPECT_NE(error_of(open), "none");
    const Json nested = Json::parse(open + "1" + close);
    EXPECT_TRUE(nested.at(0).at("a").is_array());
    EXPECT_EQ(nested.text(), open + "1" + close);
}

TEST(Json, TakesObjectsOfManyMembers) {
    constexpr int members = 200'000; // 20 thousand million comparisons, if each looked for its name
    std::string text = "{";
    for (int i = 0; i < members; ++i) {
        text += "\"" + std::to_string(i) + "\":[],";
    }
    const Json json = Json::parse(text + R"("0":1})");
    EXPECT_EQ(json.values().size(), std::size_t{members});
    EXPECT_EQ(json.at("0").get<int>(), 1);
}

TEST(Json, MovesAPartOverTheWhole) {
    Json json = {{"a", Json{{"b", 5}}}, {"c", 6}};
    json = std::move(json["a"]);
    EXPECT_EQ(json.text(), R"({"b":5})");
}

TEST(Json, ConvertsNumbersOnlyWhereTheyFit) {
    EXPECT_EQ(Json(7).get<double>(), 7.0);
    EXPECT_EQ(Json(3.0).get<int>(), 3);
    EXPECT_THROW((void)Json(3.5).get<int>(), JsonError);
    EXPECT_THROW((void)Json(std::nan("")).get<int>(), JsonError);
    EXPECT_THROW((void)Json(true).get<int>(), JsonError);
    EXPECT_EQ(Json(-2147483648.0).get<int>(), std::numeric_limits<int>::min());
    EXPECT_EQ(Json(-9223372036854775808.0).get<std::int64_t>(),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_THROW((void)Json(2147483648).get<int>(), JsonError);
    EXPECT_THROW((void)Json(2147483648.0).get<int>(), JsonError);
    EXPECT_THROW((void)Json(-1e300).get<std::int64_t>(), JsonError);
    EXPECT_THROW((void)Json(9223372036854775808.0).get<std::int64_t>(), JsonError);
    EXPECT_THROW((void)Json(9223372036854775808U).get<std::int64_t>(), JsonError);
}

TEST(Json, RefusesOtherTypes) {
    EXPECT_THROW((void)Json("7").get<int>(), JsonError);
    EXPECT_THROW((void)Json("7").get<double>(), JsonError);
    EXPECT_THROW((void)Json(1).get<bool>(), JsonError);
    EXPECT_THROW((void)Json(1).get<std::string>(), JsonError);
    EXPECT_THROW((void)Json::array().get<std::string>(), JsonError);
    EXPECT_THROW((void)Json().get<std::int64_t>(), JsonError);
    EXPECT_THROW((void)Json(1).at("a"), JsonError);
    EXPECT_THROW((void)Json(1).at(0), JsonError);
    EXPECT_THROW((void)Json::array(1).at(1), JsonError);
    EXPECT_THROW((void)Json({{"a", 1}}).at(0), JsonError);
}

template <class Call> std::string complaint(const Call& call) {
    try {
        call();
    } catch (const JsonError& error) {
        return error.what();
    }
    return "none";
}

TEST(Json, SaysWhatIsThereInstead) {
    const Json json = Json::parse(R"({"a": [1, 2], "b": 5.5, "c": NaN, "d": 1e30})");
    const auto as_number = [&](const char* name) {
        return complaint([&] { (void)json.get<std::int64_t>(name); });
    };
    EXPECT_EQ(complaint([&] { (void)json.get<std::string>("a"); }),
              R"("a" is a list of 2, where a text must be)");
    EXPECT_EQ(as_number("b"), R"("b" is 5.5, where a whole number must be)");
    EXPECT_EQ(as_number("c"), R"("c" is NaN, where a whole number must be)");
    EXPECT_EQ(as_number("d"), R"("d" is 1e+30, which is out of range)");
    EXPECT_EQ(as_number("e"), R"(there is no "e")");
    EXPECT_EQ(complaint([&] { (void)json.at("b").at("x"); }),
              R"(there is 5.5, where an object with "x" must be)");
    EXPECT_EQ(complaint([&] { (void)json.at("a").at(2); }),
              "there is a list of 2, where a list of more than 2 must be");
}

TEST(Json, FindsMembers) {
    const Json json = {{"a", 1}, {"b", Json()}};
    EXPECT_EQ(json.at("a").get<int>(), 1);
    EXPECT_EQ(json.values().at(0).get<int>(), 1);
    EXPECT_THROW((void)json.at("c"), JsonError);
    EXPECT_THROW((void)json.at("b").get<int>(), JsonError);
    EXPECT_EQ(json.find("c"), nullptr);
    EXPECT_EQ(json.value("c", 5), 5);
    EXPECT_EQ(json.value("a", 5), 1);
    EXPECT_EQ(json.values().size(), 2U);
    EXPECT_EQ(Json(1).values().size(), 0U);
    EXPECT_EQ(Json(1).find("a"), nullptr);
}

} // namespace
} // namespace runner
