// SPDX-License-Identifier: BSD-3-Clause
#include "io/packings/packings.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

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

template <class T> T swapped(T value) {
    if constexpr (sizeof(T) == 1) {
        return value;
    } else if constexpr (sizeof(T) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bswap32(value);
    } else {
        return __builtin_bswap64(value);
    }
}

template <class T, bool big_endian>
void add_in_line(std::byte* line, std::size_t elements, std::size_t samples) {
    const auto load = [&](std::size_t i) {
        T value;
        std::memcpy(&value, line + i * sizeof(T), sizeof(T));
        return big_endian ? swapped(value) : value;
    };
    const auto store = [&](std::size_t i, T value) {
        value = big_endian ? swapped(value) : value;
        std::memcpy(line + i * sizeof(T), &value, sizeof(T));
    };
    for (std::size_t sample = 0; sample < samples && sample < elements; ++sample) {
        T sum = load(sample);
        for (std::size_t i = sample + samples; i < elements; i += samples) {
            sum = static_cast<T>(sum + load(i));
            store(i, sum);
        }
    }
}

template <class T> void add_in_lines(std::span<std::byte> bytes, const PredictedLines& lines) {
    for (std::size_t at = 0; at + lines.bytes() <= bytes.size(); at += lines.bytes()) {
        if (lines.big_endian) {
            add_in_line<T, true>(bytes.data() + at, lines.elements, lines.samples);
        } else {
            add_in_line<T, false>(bytes.data() + at, lines.elements, lines.samples);
        }
    }
}

} // namespace

void check_declared_bytes(const DeclaredBytes& declared, const std::string& what,
                          const std::string& file) {
    // Divided, since the product may be beyond 2^63.
    if ((declared.unpacked - 1) / declared.ratio < declared.stored) {
        return;
    }
    throw Error(
        ExitCode::input,
        {what, file,
         fmt::format("it declares {} bytes, and its {} make {} of them at most ({}:1 by {})",
                     declared.unpacked, declared.stored, declared.stored * declared.ratio,
                     declared.ratio, declared.packing),
         "It is damaged or malicious: get it again from where it was made"});
}

std::optional<std::size_t> unpack_packbits(std::span<const std::byte> packed, std::size_t line,
                                           std::span<std::byte> to) {
    constexpr std::size_t nothing = 128;
    std::size_t in = 0;
    std::size_t out = 0;
    while (in < packed.size() && out < to.size()) {
        const auto head = std::to_integer<std::size_t>(packed[in++]);
        if (head == nothing) {
            continue;
        }
        const std::size_t count = head < nothing ? head + 1 : 257 - head;
        const std::size_t stored = head < nothing ? count : 1;
        const std::size_t room = line == 0 ? to.size() - out : line - out % line;
        if (stored > packed.size() - in || (line != 0 && count > room)) {
            return std::nullopt;
        }
        const std::size_t here = std::min({count, room, to.size() - out});
        if (head < nothing) {
            std::copy_n(packed.data() + in, here, to.data() + out);
        } else {
            std::fill_n(to.data() + out, here, packed[in]);
        }
        in += stored;
        out += here;
    }
    return out;
}

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
    unsigned before = table_size; // none
    while (done < to.size()) {
        // The decoder is one entry behind the coder, but for the first code after an empty table.
        const unsigned code = codes.next(table.bits());
        if (code == end_code) {
            break;
        }
        if (code == clear_code) {
            table.clear();
            before = table_size;
            continue;
        }
        if (before == table_size) {
            if (code > clear_code) {
                return std::nullopt;
            }
        } else if (code < table.size()) {
            table.add(before, table[code].first);
        } else if (code == table.size() && code < table_size) {
            table.add(before, table[before].first);
        } else {
            return std::nullopt;
        }
        done += table.write(code, to.subspan(done));
        before = code;
    }
    return done;
}

void add_differences(std::span<std::byte> bytes, const PredictedLines& lines) {
    switch (lines.size) {
    case 1: return add_in_lines<std::uint8_t>(bytes, lines);
    case 2: return add_in_lines<std::uint16_t>(bytes, lines);
    case 4: return add_in_lines<std::uint32_t>(bytes, lines);
    default: return add_in_lines<std::uint64_t>(bytes, lines);
    }
}

void join_float_bytes(std::span<const std::byte> packed, const PredictedLines& lines,
                      std::span<std::byte> to) {
    std::vector<std::byte> sums(lines.bytes());
    for (std::size_t at = 0; at + lines.bytes() <= packed.size(); at += lines.bytes()) {
        std::memcpy(sums.data(), packed.data() + at, lines.bytes());
        add_in_line<std::uint8_t, false>(sums.data(), lines.bytes(), lines.samples);
        for (std::size_t byte = 0; byte < lines.size; ++byte) {
            const std::byte* from = sums.data() + byte * lines.elements;
            std::byte* out = to.data() + at + (lines.big_endian ? byte : lines.size - 1 - byte);
            for (std::size_t i = 0; i < lines.elements; ++i) {
                out[i * lines.size] = from[i];
            }
        }
    }
}

} // namespace runner
