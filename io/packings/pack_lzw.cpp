// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/packings.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace runner {
namespace {

constexpr unsigned start_code = 256; ///< empties the table
constexpr unsigned stop_code = 257;
constexpr unsigned first_string = 258;
constexpr unsigned full_table = 4094; ///< as libtiff, whose table ends there
constexpr unsigned shortest_code = 9;

/// Codes one after the other, the highest bit first.
class CodeWriter {
  public:
    explicit CodeWriter(std::span<std::byte> to) : to_(to) {}

    /// `strings`: entries that the table has, of which the reader lacks the last.
    void write(unsigned code, unsigned strings) {
        unsigned bits = shortest_code;
        while (strings >= 1U << bits) {
            ++bits;
        }
        held_ = held_ << bits | code;
        for (there_ += bits; there_ >= 8; there_ -= 8) {
            to_[at_++] = static_cast<std::byte>(held_ >> (there_ - 8));
        }
    }

    std::size_t finish() {
        if (there_ > 0) {
            to_[at_++] = static_cast<std::byte>(held_ << (8 - there_));
        }
        return at_;
    }

  private:
    std::span<std::byte> to_;
    std::size_t at_ = 0;
    std::uint32_t held_ = 0; ///< of which the lowest `there_` bits are not written
    unsigned there_ = 0;
};

/// The strings of the table: each is another one with a byte more.
class StringTable {
  public:
    StringTable() : slots_(slots) {}

    void clear() {
        std::fill(slots_.begin(), slots_.end(), Slot{});
        strings_ = first_string;
    }
    unsigned strings() const { return strings_; }

    /// The code of the string `before` with `byte` behind it. Where there is none, adds it and
    /// returns 0.
    unsigned find_or_add(unsigned before, unsigned byte) {
        const std::uint32_t key = (before << 8U | byte) + 1;
        std::uint32_t at = key * 2654435761U >> (32 - slot_bits);
        while (slots_[at].key != 0) {
            if (slots_[at].key == key) {
                return slots_[at].code;
            }
            at = (at + 1) % slots;
        }
        slots_[at] = {key, strings_++};
        return 0;
    }

  private:
    static constexpr unsigned slot_bits = 14;
    static constexpr std::uint32_t slots = 1U << slot_bits;
    struct Slot {
        std::uint32_t key = 0; ///< 0: free
        unsigned code = 0;
    };

    std::vector<Slot> slots_;
    unsigned strings_ = first_string;
};

} // namespace

std::size_t lzw_bound(std::size_t bytes) {
    constexpr std::size_t rest = 64;
    return bytes + bytes / 2 + bytes / 1024 + rest; // 12 bits a byte, and what empties the table
}

std::size_t pack_lzw(std::span<const std::byte> from, std::span<std::byte> to) {
    CodeWriter codes(to);
    StringTable table;
    codes.write(start_code, first_string);
    if (from.empty()) {
        codes.write(stop_code, first_string);
        return codes.finish();
    }
    unsigned string = std::to_integer<unsigned>(from.front());
    for (const std::byte each : from.subspan(1)) {
        const auto byte = std::to_integer<unsigned>(each);
        const unsigned strings = table.strings();
        if (const unsigned longer = table.find_or_add(string, byte)) {
            string = longer;
            continue;
        }
        codes.write(string, strings);
        if (table.strings() == full_table) {
            codes.write(start_code, table.strings());
            table.clear();
        }
        string = byte;
    }
    codes.write(string, table.strings());
    codes.write(stop_code, table.strings() + 1);
    return codes.finish();
}

} // namespace runner
