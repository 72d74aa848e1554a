// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/lzw.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace runner {
namespace {

constexpr unsigned clear_code = 256;
constexpr unsigned end_code = 257;
constexpr unsigned first_free = 258;
constexpr unsigned least_bits = 9;
constexpr unsigned most_bits = 12;
constexpr unsigned table_size = 1U << most_bits;

/// A string of the table: those of an earlier code, and a byte.
struct Entry {
    std::uint16_t before = 0;
    std::uint16_t length = 1;
    std::byte first{};
    std::byte last{};
};

/// Codes from packed bytes.
class Codes {
  public:
    explicit Codes(std::span<const std::byte> packed) : packed_(packed) {}

    /// end_code where fewer bits are left.
    unsigned next(unsigned bits) {
        while (there_ < bits) {
            if (at_ == packed_.size()) {
                return end_code;
            }
            held_ = held_ << 8U | std::to_integer<std::uint32_t>(packed_[at_++]);
            there_ += 8;
        }
        there_ -= bits;
        return held_ >> there_ & ((1U << bits) - 1);
    }

  private:
    std::span<const std::byte> packed_;
    std::size_t at_ = 0;
    std::uint32_t held_ = 0; ///< of which the lowest `there_` bits are not taken
    unsigned there_ = 0;
};

class Table {
  public:
    Table() {
        for (unsigned code = 0; code < clear_code; ++code) {
            entries_[code].first = entries_[code].last = static_cast<std::byte>(code);
        }
    }

    void clear() { size_ = first_free; }
    unsigned size() const { return size_; }
    const Entry& operator[](unsigned code) const { return entries_[code]; }

    /// The string of `before` with one more byte, unless the table is full.
    void add(unsigned before, std::byte last) {
        if (size_ < table_size) {
            const Entry& from = entries_[before];
            entries_[size_++] = {static_cast<std::uint16_t>(before),
                                 static_cast<std::uint16_t>(from.length + 1), from.first, last};
        }
    }

    /// Bits of the next code.
    unsigned bits() const {
        unsigned bits = least_bits;
        while (bits < most_bits && size_ + 1 >= 1U << bits) {
            ++bits;
        }
        return bits;
    }

    /// The front of the string of `code`, as much as there is room for.
    std::size_t write(unsigned code, std::span<std::byte> to) const {
        std::size_t at = entries_[code].length;
        const std::size_t wanted = std::min(at, to.size());
        while (at > 0) {
            const Entry& entry = entries_[code];
            if (--at < wanted) {
                to[at] = entry.last;
            }
            code = entry.before;
        }
        return wanted;
    }

  private:
    std::array<Entry, table_size> entries_{};
    unsigned size_ = first_free;
};

} // namespace

bool is_early_lzw(std::span<const std::byte> packed) {
    return packed.size() >= 2 && packed[0] == std::byte{0} &&
           (packed[1] & std::byte{1}) != std::byte{0};
}

std::optional<std::size_t> unpack_lzw(std::span<const std::byte> packed, std::span<std::byte> to) {
    if (is_early_lzw(packed)) {
        return std::nullopt;
    }
    Codes codes(packed);
    Table table;
    std::size_t done = 0;
    std::optional<unsigned> before;
    while (done < to.size()) {
        // The decoder is one entry behind the coder, but for the first code after an empty table.
        const unsigned code = codes.next(table.bits());
        if (code == end_code) {
            break;
        }
        if (code == clear_code) {
            table.clear();
            before.reset();
            continue;
        }
        if (!before) {
            if (code > clear_code) {
                return std::nullopt;
            }
        } else if (code < table.size()) {
            table.add(*before, table[code].first);
        } else if (code == table.size() && code < table_size) {
            table.add(*before, table[*before].first);
        } else {
            return std::nullopt;
        }
        done += table.write(code, to.subspan(done));
        before = code;
    }
    return done;
}

} // namespace runner
