// SPDX-License-Identifier: BSD-3-Clause
// What a process that may have been led astray hands over: whole, or refused.
#include "io/metadata/metadata.hpp"

#include "tests/io/metadata/metadata_values.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace runner {
namespace {

/// One of everything.
Metadata everything() {
    Metadata made;
    made.shape = {4, 3};
    PlainValue truth = numbers<std::int8_t>({0, 1});
    truth.kind = PlainValue::Kind::truth;
    PlainValue fixed = texts({"ab", ""});
    fixed.text_bytes = 2;
    fixed.utf8 = true;
    PlainValue empty = numbers<float>({});
    empty.space = PlainValue::Space::empty;
    empty.shape.clear();
    made.dataset = {
        {"units", text("mm")}, {"gain", scalar(2.5F)}, {"list", numbers<std::int64_t>({-1, 5})},
        {"truth", truth},      {"fixed", fixed},       {"empty", empty}};
    made.group = {{"a/b", texts({})}};
    made.axes = {"y", "."};
    made.coordinates = {{"y", 0, numbers<double>({1, 2, 3, 4, 5}), {{"units", text("mm")}}},
                        {"x", 1, numbers<std::uint8_t>({1, 2, 3}), {}}};
    made.left_out = {"/data@odd: why"};
    made.scan = {
        {"", "NXentry", {}, {{"version", scalar(1.4)}}, ScanItem::Kind::group},
        {"sample/name", "", text("a beetle"), {}, ScanItem::Kind::fixed},
        {"sample/angle", "", numbers<double>({1, 2, 3, 4}), {}, ScanItem::Kind::of_frames}};
    return made;
}

std::string refusal(const std::string& bytes) {
    try {
        (void)decode_metadata(bytes);
        return "";
    } catch (const BadMessage& error) {
        return error.what();
    }
}

/// What is said of everything() with a change.
std::string refusal_of(const std::function<void(Metadata&)>& change) {
    Metadata metadata = everything();
    change(metadata);
    return refusal(encode_metadata(metadata));
}

TEST(MetadataMessage, ComesBackWhole) {
    EXPECT_EQ(decode_metadata(encode_metadata(everything())), everything());
    EXPECT_EQ(decode_metadata(encode_metadata({})), Metadata());
}

TEST(MetadataMessage, IsRefusedWhereAPartOfAScanCannotBe) {
    const auto refused = [](const std::function<void(ScanItem&)>& change) {
        return refusal_of([&](Metadata& metadata) { change(metadata.scan.back()); });
    };
    EXPECT_EQ(refused([](ScanItem& item) { item.path = "a/../b"; }),
              "a part of a scan without a name");
    EXPECT_EQ(refused([](ScanItem& item) { item.path = "/a"; }), "a part of a scan without a name");
    EXPECT_EQ(refused([](ScanItem& item) { item.path = "a/"; }), "a part of a scan without a name");
    EXPECT_EQ(refused([](ScanItem& item) {
                  item.value = numbers<double>({1, 2});
              }),
              "numbers that are not as many as the frames");
    EXPECT_EQ(
        refusal_of([](Metadata& metadata) { metadata.scan.resize(most_scan_items + 1, {"a"}); }),
        "a scan of too many parts");
}

TEST(MetadataMessage, IsRefusedWhereItIsCutOrLonger) {
    const std::string bytes = encode_metadata(everything());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_NE(refusal(bytes.substr(0, size)), "") << size;
    }
    EXPECT_NE(refusal(bytes + '\0'), "");
}

TEST(MetadataMessage, HasTextsForPeopleAsTheyCanBePrinted) {
    Metadata metadata = everything();
    metadata.left_out = {"a\x1b[31m\nrunner: error"};
    EXPECT_EQ(decode_metadata(encode_metadata(metadata)).left_out,
              std::vector<std::string>{"a\\x1b[31m\\x0arunner: error"});
}

TEST(MetadataMessage, IsRefusedWhereItsValuesAreNotAsMany) {
    const char* const numbers_text = "numbers that are not as many as was said";
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[1].value.bytes.pop_back(); }), numbers_text);
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[2].value.shape = {3}; }), numbers_text);
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[2].value.texts = {"a"}; }), numbers_text);
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[5].value.bytes.resize(4); }), numbers_text);
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[4].value.texts.pop_back(); }),
              "texts that are not as many as was said");
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[4].value.texts[1] = "abc"; }), "a text too long");
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[3].value.type = ElementType::uint8; }),
              "truth of another type");
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[0].value.shape = {1}; }), "extents of no array");
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[2].value.shape.assign(33, 1); }),
              "extents of no array");
}

TEST(MetadataMessage, IsRefusedBeyondTheLimits) {
    const char* const many = "an array of too many values";
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[2].value.shape = {-1}; }), many);
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[2].value.shape = {1 << 20, 1 << 20}; }), many);
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[2].value = numbers(std::vector<double>(4097)); }),
              "an attribute of too many bytes");
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[2].value = numbers(std::vector<double>(4096)); }),
              "");
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[0].value = text(std::string(32768, 'a')); }),
              "texts of too many bytes"); // with its end
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset[0].value = text(std::string(32767, 'a')); }), "");
    EXPECT_EQ(refusal_of([](auto& m) {
                  m.dataset.assign(129, {"a", scalar(1)});
              }),
              "too many attributes");
    EXPECT_EQ(refusal_of([](auto& m) { m.dataset.assign(128, {"a", scalar(1)}); }), "");
    EXPECT_EQ(refusal_of([](auto& m) {
                  m.coordinates[0].attributes.assign(33, {"a", scalar(1)});
              }),
              "too many attributes");
    EXPECT_EQ(refusal_of([](auto& m) { m.coordinates.assign(9, m.coordinates[1]); }),
              "too many coordinates");
    EXPECT_EQ(refusal_of([](auto& m) { m.coordinates.assign(8, m.coordinates[1]); }), "");
}

TEST(MetadataMessage, IsRefusedWhereNamesCannotBeWritten) {
    for (const std::string& name : {std::string(), std::string("a\0b", 3), std::string(256, 'a')}) {
        EXPECT_EQ(refusal_of([&](auto& m) { m.group[0].name = name; }),
                  "an attribute without a name");
    }
    for (const std::string& name :
         {std::string(), std::string("."), std::string(".."), std::string("a/b"),
          std::string("a\0b", 3), std::string(256, 'a')}) {
        EXPECT_EQ(refusal_of([&](auto& m) { m.coordinates[0].name = name; }),
                  "coordinates without a name");
    }
}

TEST(MetadataMessage, IsRefusedWhereItDoesNotFitTheShape) {
    const char* const length = "coordinates that are not as long as their axis";
    EXPECT_EQ(refusal_of([](auto& m) { m.shape = {6, 3}; }), length);
    EXPECT_EQ(refusal_of([](auto& m) { m.shape = {3, 3}; }), length);
    EXPECT_EQ(refusal_of([](auto& m) {
                  m.shape = {5, 3}; // no edges, then
                  m.scan.clear();
              }),
              "");
    EXPECT_EQ(refusal_of([](auto& m) { m.coordinates[1].values = text("x"); }), length);
    EXPECT_EQ(refusal_of([](auto& m) { m.coordinates[1].values.shape = {3, 1}; }), length);
    EXPECT_EQ(refusal_of([](auto& m) { m.axes.pop_back(); }), "names of other axes");
    EXPECT_EQ(refusal_of([](auto& m) { m.shape = {-4, 3}; }), "a shape of less than nothing");
    EXPECT_NE(refusal_of([](auto& m) { m.coordinates[1].axis = 2; }), "");
    EXPECT_NE(refusal_of([](auto& m) { m.coordinates[1].axis = -1; }), "");
    EXPECT_EQ(refusal_of([](auto& m) {
                  m.shape.clear();
                  m.axes.clear();
              }),
              "coordinates of no axis");
}

} // namespace
} // namespace runner
