// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/keys.hpp"
#include "tests/support/table_values.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

/// A table of one key, which this declaration alone states.
struct ToyKeys {
    double weight = 0.5;
};

const KeyList<ToyKeys>& toy_list() {
    static const KeyList<ToyKeys> list({
        key<ToyKeys>("weight", &ToyKeys::weight, number_from_zero_form(), "of each `element`")
            .unit("grams")
            .detail("All of them are heavy"),
    });
    return list;
}

/// A table of several forms.
enum class Side { left, right };
struct ManyKeys {
    std::int64_t count = 0;
    bool is_round = false;
    Side side = Side::left;
    Extents3 size = {1, 3, 3};
    std::optional<std::int64_t> seed;
};

const KeyList<ManyKeys>& many_list() {
    using Keys = ManyKeys;
    static const KeyList<Keys> list({
        key<Keys>("count", &Keys::count, integer_form(1, 9), "how many")
            .required("count = 3")
            .sample("3"),
        key<Keys>("is_round", &Keys::is_round, boolean_form(), "whether it is round")
            .only_where([](const Keys& keys) { return keys.count > 1; }),
        key<Keys>("side", &Keys::side, choice_form<Side>({"left", "right"}), "where it stands")
            .then([](TableReader& table, Keys& keys) {
                if (keys.side == Side::right && keys.count == 1) {
                    table.complain("side", "one has no right side");
                    return false;
                }
                return true;
            }),
        key<Keys>("size", &Keys::size,
                  extents_form("odd",
                               [](const Extents3& size, std::span<const std::int64_t> /*written*/) {
                                   return size[2] % 2 == 1 ? "" : "x must be odd";
                               }),
                  "extents"),
        key<Keys>("seed", &Keys::seed, integer_form(0), "of the numbers")
            .usually_explained("the input's")
            .sample("7", KeyText::Shown::commented),
    });
    return list;
}

template <class Keys> struct Outcome {
    std::optional<Keys> keys;
    std::vector<std::string> complaints;
};

template <class Keys> Outcome<Keys> read(const KeyList<Keys>& list, const TableEntries& entries) {
    Diagnostics diagnostics;
    TableReader reader(entries, {1, 1}, "toy", diagnostics);
    Outcome<Keys> outcome{list.read(reader), {}};
    reader.finish();
    for (const Diagnostics::Entry& entry : diagnostics.entries()) {
        outcome.complaints.push_back(entry.text);
    }
    return outcome;
}

using Texts = std::vector<std::string>;

TEST(Keys, OneDeclarationParsesWritesAndDescribes) {
    EXPECT_EQ(read(toy_list(), {{"weight", of(2.5)}}).keys->weight, 2.5);
    EXPECT_EQ(read(toy_list(), {}).keys->weight, 0.5);
    EXPECT_EQ(read(toy_list(), {{"weight", of(-1.0)}}).complaints,
              (Texts{"toy.weight: must be 0 or more, got -1.0"}));
    EXPECT_EQ(read(toy_list(), {{"weigth", of(1.0)}}).complaints,
              (Texts{"toy.weigth: unknown key; did you mean weight?"}));
    EXPECT_EQ(toy_list().canonical({}, CanonicalFor::identity), "weight = 0.5\n");

    const Kind toy{"toy", "a toy", [] { return toy_list().texts(); }, "", nullptr};
    EXPECT_EQ(sample_lines(toy.keys()),
              "weight = 0.5                    # of each element; 0 or more; in grams\n");
    EXPECT_EQ(key_table(toy), "| key | type | default | meaning |\n| --- | --- | --- | --- |\n"
                              "| `weight` | number | `0.5` | of each `element`; 0 or more; in "
                              "grams. All of them are heavy |\n");
    EXPECT_EQ(key_paragraphs(toy),
              "[toy] a toy\n\nweight (number, default: 0.5)\n"
              "    of each element; 0 or more; in grams. All of them are heavy\n");
    EXPECT_EQ(kinds_json(std::span(&toy, 1)),
              "[\n  {\n    \"kind\": \"toy\",\n    \"summary\": \"a toy\",\n    \"keys\": [\n"
              "      {\n        \"name\": \"weight\",\n        \"type\": \"number\",\n"
              "        \"range\": \"0 or more\",\n        \"unit\": \"grams\",\n"
              "        \"default\": \"`0.5`\",\n        \"meaning\": \"of each `element`\",\n"
              "        \"detail\": \"All of them are heavy\",\n"
              "        \"annotation\": \"float\"\n      }\n    ]\n  }\n]\n");
}

TEST(Keys, EveryWrongKeyIsReported) {
    EXPECT_EQ(read(many_list(), {}).complaints, (Texts{"toy.count is missing: write count = 3"}));
    const auto wrong = read(many_list(), {{"count", of(std::int64_t{12})},
                                          {"is_round", of(1.0)},
                                          {"side", of(std::string("lefd"))},
                                          {"size", integers({4})}});
    EXPECT_FALSE(wrong.keys.has_value());
    EXPECT_EQ(
        wrong.complaints,
        (Texts{"toy.count: must be from 1 to 9, got 12",
               "toy.is_round: expected a boolean (true or false), got a float",
               "toy.side: unknown value \"lefd\"; did you mean \"left\"? Possible: left, "
               "right",
               "toy.size: expected [z, y, x], [y, x] or one number for y and x, got 1 numbers"}));
    EXPECT_EQ(
        read(many_list(), {{"count", of(std::int64_t{2})}, {"size", integers({3, 4})}}).complaints,
        (Texts{"toy.size: x must be odd"}));
    const Outcome<ManyKeys> square =
        read(many_list(), {{"count", of(std::int64_t{2})}, {"size", of(std::int64_t{5})}});
    ASSERT_TRUE(square.keys);
    EXPECT_EQ(square.keys->size, (Extents3{1, 5, 5}));
    EXPECT_EQ(
        read(many_list(), {{"count", of(std::int64_t{1})}, {"side", of(std::string("right"))}})
            .complaints,
        (Texts{"toy.side: one has no right side"}));
}

TEST(Keys, CanonicalTextHasWhatIsInEffect) {
    ManyKeys keys;
    keys.count = 1;
    EXPECT_EQ(many_list().canonical(keys, CanonicalFor::reading),
              "count = 1\nside = \"left\"\nsize = [1, 3, 3]\n# seed: the input's\n");
    EXPECT_EQ(many_list().canonical(keys, CanonicalFor::identity),
              "count = 1\nside = \"left\"\nsize = [1, 3, 3]\n");
    keys.count = 2;
    keys.seed = 5;
    EXPECT_EQ(many_list().canonical(keys, CanonicalFor::identity),
              "count = 2\nis_round = false\nside = \"left\"\nsize = [1, 3, 3]\nseed = 5\n");
}

TEST(Keys, EveryKindDescribesEachOfItsKeys) {
    for (const Kind& kind : kinds()) {
        for (const KeyText& key : kind.keys()) {
            EXPECT_FALSE(key.type.empty() || key.usual.empty() || key.meaning.empty() ||
                         key.annotation.empty() || key.sample.empty())
                << kind.name << "." << key.name;
            EXPECT_FALSE(key.meaning.ends_with('.')) << kind.name << "." << key.name;
        }
    }
}

} // namespace
} // namespace runner
