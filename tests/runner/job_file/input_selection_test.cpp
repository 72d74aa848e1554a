// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/input_selection.hpp"

#include "base/error.hpp"
#include "runner/toml/toml_values.hpp"
#include "tests/io/scratch_folder.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

/// What a table [input] selects; `wrong` gets what is reported.
InputSelection parse(const std::string& text, std::string* wrong = nullptr) {
    Diagnostics diagnostics;
    const std::optional<TableEntries> values = parse_toml(text, 0, diagnostics);
    TableReader input(*values, {}, "input", diagnostics);
    InputSelection selection = parse_input_selection(input);
    input.finish();
    std::string all;
    for (const Diagnostics::Entry& entry : diagnostics.entries()) {
        all += entry.text + "\n";
    }
    if (wrong != nullptr) {
        *wrong = all;
    } else {
        EXPECT_EQ(all, "");
    }
    return selection;
}

std::string part_of(const std::string& text, std::vector<std::int64_t> shape,
                    std::optional<int> channels = {}, const std::vector<std::int64_t>& marks = {}) {
    DatasetInfo info;
    info.array = {ElementType::uint16, std::move(shape)};
    info.channels = channels;
    return part_text(resolve_selection(parse(text), info, {}, marks, "a.h5:/data").value());
}

/// The part of a scan of 8 frames of 4 × 5; "" for all of it.
std::string part_of_scan(const std::string& text, const std::vector<std::int64_t>& keys,
                         const std::vector<std::int64_t>& marks = {}) {
    DatasetInfo info;
    info.array = {ElementType::uint16, {8, 4, 5}};
    FrameRoles roles;
    roles.key = "/key";
    for (const std::int64_t key : keys) {
        roles.frames.push_back(role_of_key(key).value());
    }
    const auto part = resolve_selection(parse(text), info, roles, marks, "a.h5:/data");
    return part ? part_text(*part) : "";
}

std::string refusal(const std::string& text, std::vector<std::int64_t> shape,
                    const std::vector<std::int64_t>& marks = {}) {
    try {
        (void)part_of(text, std::move(shape), {}, marks);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    return "";
}

TEST(InputSelection, RangesAreNumpys) {
    EXPECT_TRUE(parse("").is_whole());
    EXPECT_EQ(part_of("region = {rows = \"2:5\"}", {10, 20}), "[2:5, 0:20]");
    EXPECT_EQ(part_of("region = {rows = \":5\", columns = \"-4:\"}", {10, 20}), "[0:5, 16:20]");
    EXPECT_EQ(part_of("region = {columns = \"-4:-1\"}", {10, 20}), "[0:10, 16:19]");
    EXPECT_EQ(part_of("region = {depth = \"1:2\"}", {3, 10, 20}), "[1:2, 0:10, 0:20]");
    EXPECT_EQ(part_of("region = {columns = \"3:4\"}", {10}), "[3:4]");
}

TEST(InputSelection, ChannelsAreNoColumns) {
    EXPECT_EQ(part_of("region = {rows = \"1:3\", columns = \"2:5\"}", {10, 20, 3}, 3),
              "[1:3, 2:5, 0:3]");
}

TEST(InputSelection, FramesAreOfTheFirstAxis) {
    EXPECT_EQ(part_of("frames = \"0:9:3\"", {10, 4, 4}), "[0:7:3, 0:4, 0:4]");
    EXPECT_EQ(part_of("frames = \"-1:\"", {10, 4, 4}), "[9:10, 0:4, 0:4]");
    EXPECT_EQ(part_of("frames = \"5:9:9223372036854775807\"", {10, 4, 4}), "[5:6, 0:4, 0:4]");
    EXPECT_EQ(part_of("frames = {where = \"/key\", equals = 1}\nregion = {rows = \"1:2\"}",
                      {5, 4, 4}, {}, {0, 1, 1, 2, 1}),
              part_text({{0, 1, 0}, {3, 1, 4}, {1, 2, 4}}));
}

TEST(InputSelection, OfAScanIsOfItsProjections) {
    const std::vector<std::int64_t> keys = {2, 0, 0, 1, 0, -1, 0, 3};
    const auto frames = [](std::vector<std::int64_t> numbers) {
        const std::int64_t count = std::ssize(numbers);
        return part_text({{0, 0, 0}, {count, 4, 5}, std::move(numbers)});
    };
    EXPECT_EQ(part_of_scan("", keys), frames({1, 2, 4, 6}));
    EXPECT_EQ(part_of_scan("frames = \"::3\"", keys), frames({1, 6}));
    EXPECT_EQ(part_of_scan("frames = \"-1:\"", keys), frames({6}));
    EXPECT_EQ(part_of_scan("region = {depth = \"1:3\"}", keys), frames({2, 4}));
    EXPECT_EQ(part_of_scan("frames = \"all\"", keys), "");
    EXPECT_EQ(part_of_scan("", std::vector<std::int64_t>(8, 0)), "");
    EXPECT_EQ(part_of_scan("region = {rows = \"1:2\"}", std::vector<std::int64_t>(8, 0)),
              "[0:8, 1:2, 0:5]");
    const std::vector<std::int64_t> marks = {7, 7, 7, 7, 7, 7, 0, 0};
    EXPECT_EQ(part_of_scan("frames = {where = \"/turn\", equals = 7}", keys, marks),
              frames({1, 2, 4}));
    EXPECT_EQ(part_of_scan("frames = {where = \"/e/image_key\", equals = 0}", keys, marks),
              frames({6, 7}));
    const auto none = error_of([&] { part_of_scan("", {1, 1, 1, 1, 2, 2, 2, 2}); });
    ASSERT_TRUE(none);
    EXPECT_EQ(none->code(), ExitCode::input);
    EXPECT_EQ(none->text().why, "/key says that its frames are 4 flats, 4 darks");
    const auto twice =
        error_of([&] { part_of_scan("frames = \"0:1\"\nregion = {depth = \"1:3\"}", keys); });
    ASSERT_TRUE(twice);
}

TEST(InputSelection, IsWrittenAsItIsRead) {
    for (const char* text :
         {"region = { rows = \"2:5\", depth = \":-1\" }\n", "frames = \"0:9:3\"\n",
          "frames = \"all\"\n",
          "region = { columns = \"1:\" }\nframes = { where = \"/a\", equals = -2 }\n", ""}) {
        EXPECT_EQ(toml_lines(parse(text)), text);
    }
}

TEST(InputSelection, RefusesWhatIsNoRange) {
    for (const char* text :
         {"5", "1:2:3:4", "a:b", "1.5:2", "0:3:0", "0:3:-1", "::::", "", "99999999999999999999:"}) {
        std::string wrong;
        (void)parse("frames = \"" + std::string(text) + "\"", &wrong);
        EXPECT_NE(wrong.find("input.frames: expected a range"), std::string::npos) << text;
    }
    std::string wrong;
    (void)parse("region = {rows = \"0:9:2\", column = \"1:2\"}", &wrong);
    EXPECT_NE(wrong.find("input.region.rows: takes no step"), std::string::npos) << wrong;
    EXPECT_NE(wrong.find("column"), std::string::npos) << wrong;
    (void)parse("frames = {equals = \"x\"}", &wrong);
    EXPECT_NE(wrong.find("input.frames.where is missing"), std::string::npos) << wrong;
    EXPECT_NE(wrong.find("input.frames.equals"), std::string::npos) << wrong;
}

TEST(InputSelection, RefusesWhatTheDatasetHasNot) {
    EXPECT_NE(refusal("region = {rows = \"0:11\"}", {10, 20}).find("11 is beyond the 10 elements"),
              std::string::npos);
    EXPECT_NE(refusal("region = {rows = \"5:5\"}", {10, 20}).find("empty"), std::string::npos);
    EXPECT_NE(refusal("region = {depth = \"0:1\"}", {10, 20}).find("no such axis"),
              std::string::npos);
    EXPECT_NE(refusal("frames = \"0:1\"", {10}).find("no frames"), std::string::npos);
    EXPECT_NE(refusal("frames = \"0:1\"\nregion = {depth = \"0:2\"}", {3, 4, 5}).find("already"),
              std::string::npos);
    const std::string by_key = "frames = {where = \"/key\", equals = 3}";
    EXPECT_NE(refusal(by_key, {3, 4, 5}, {0, 1}).find("2 numbers for the 3 frames"),
              std::string::npos);
    EXPECT_NE(refusal(by_key, {3, 4, 5}, {0, 1, 2}).find("for no frame"), std::string::npos);
}

} // namespace
} // namespace runner
