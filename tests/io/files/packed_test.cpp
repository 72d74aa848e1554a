// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/packed.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

enum class Colour { red, green };

struct Inner {
    std::int64_t number = 0;
    std::string text;

    bool operator==(const Inner&) const = default;
    static auto members(auto& self) { return std::tie(self.number, self.text); }
};

struct Outer {
    bool flag = false;
    double real = 0;
    Colour colour = Colour::red;
    std::vector<Inner> list;
    std::optional<std::uint64_t> some;
    std::optional<Inner> none;
    std::set<std::size_t> places;
    std::map<std::string, int> named;
    std::array<Inner, 2> pair;

    bool operator==(const Outer&) const = default;
    static auto members(auto& self) {
        return std::tie(self.flag, self.real, self.colour, self.list, self.some, self.none,
                        self.places, self.named, self.pair);
    }
};

Outer sample() {
    return {true,
            -0.1,
            Colour::green,
            {{-7, "two\nlines"}, {1, std::string("\0", 1)}},
            ~std::uint64_t{0},
            std::nullopt,
            {9, 3},
            {{"b", 2}, {"a", -1}},
            {Inner{5, ""}, Inner{6, "x"}}};
}

TEST(Packed, ComesBackAsItWas) {
    EXPECT_EQ(unpacked<Outer>(packed(sample())), sample());
    EXPECT_EQ(unpacked<Outer>(packed(Outer())), Outer());
    const std::pair mine(3, std::string("0-7"));
    EXPECT_EQ((unpacked<std::pair<int, std::string>>(packed(mine))), mine);
}

TEST(Packed, RefusesBytesThatAreCutShortOrTooMany) {
    const std::string bytes = packed(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_THROW((void)unpacked<Outer>(std::string_view(bytes).substr(0, size)), BadMessage)
            << size;
    }
    EXPECT_THROW((void)unpacked<Outer>(bytes + "x"), BadMessage);
}

} // namespace
} // namespace runner
