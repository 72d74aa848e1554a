// SPDX-License-Identifier: BSD-3-Clause
// Packed bytes made by hand, or by packers that follow the formats' texts.
#include "io/packings/packings.hpp"
#include "io/packings/png_picture.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
    Bytes bytes;
    for (const int value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

/// Codes one after the other, the highest bit first.
class Codes {
  public:
    void add(unsigned code, unsigned bits) {
        for (unsigned bit = bits; bit-- > 0;) {
            if (used_++ % 8 == 0) {
                bytes.push_back(std::byte{0});
            }
            if ((code >> bit & 1U) != 0) {
                bytes.back() |= std::byte{0x80} >> static_cast<int>((used_ - 1) % 8);
            }
        }
    }
    Bytes bytes;

  private:
    std::size_t used_ = 0;
};

/// TIFF 6.0, section 13.
Bytes packed_lzw(const std::string& text) {
    Codes codes;
    std::map<std::string, unsigned> table;
    unsigned next = 0;
    unsigned bits = 9;
    const auto clear = [&] {
        codes.add(256, bits);
        table.clear();
        for (unsigned i = 0; i < 256; ++i) {
            table[std::string(1, static_cast<char>(i))] = i;
        }
        next = 258;
        bits = 9;
    };
    const auto count_entry = [&] {
        ++next;
        bits = next >= 2048 ? 12 : next >= 1024 ? 11 : next >= 512 ? 10 : 9;
    };
    clear();
    std::string run;
    for (const char each : text) {
        if (table.contains(run + each)) {
            run += each;
            continue;
        }
        codes.add(table.at(run), bits);
        table[run + each] = next;
        count_entry();
        if (next == 4095) {
            clear();
        }
        run = each;
    }
    codes.add(table.at(run), bits);
    count_entry();
    codes.add(257, bits);
    return codes.bytes;
}

TEST(Lzw, UnpacksByHand) {
    Codes codes;
    for (const unsigned code : {256U, 65U, 258U, 66U, 259U, 257U}) { // A AA B AAB
        codes.add(code, 9);
    }
    Bytes to(20);
    ASSERT_EQ(unpack_lzw(codes.bytes, to), 7U);
    to.resize(7);
    EXPECT_EQ(to, bytes_of({'A', 'A', 'A', 'B', 'A', 'A', 'B'}));
    Bytes few(2);
    EXPECT_EQ(unpack_lzw(codes.bytes, few), 2U) << "ends when it is full";
    EXPECT_EQ(few, bytes_of({'A', 'A'}));
}

TEST(Lzw, UnpacksCodesOfAllLengths) {
    std::mt19937 random(1);
    for (const int values : {1, 2, 17, 256}) {
        for (const std::size_t count : {1U, 300U, 5000U, 20000U}) {
            std::string text(count, ' ');
            for (char& each : text) {
                each = static_cast<char>(random() % static_cast<unsigned>(values));
            }
            Bytes to(count);
            ASSERT_EQ(unpack_lzw(packed_lzw(text), to), count) << values;
            EXPECT_TRUE(
                std::equal(to.begin(), to.end(), text.begin(),
                           [](std::byte a, char b) { return a == static_cast<std::byte>(b); }))
                << values << " values, " << count;
            const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
            Bytes packed(lzw_bound(count));
            packed.resize(pack_lzw(std::span(bytes, count), packed));
            std::fill(to.begin(), to.end(), std::byte{0xaa});
            ASSERT_EQ(unpack_lzw(packed, to), count) << values;
            EXPECT_TRUE(std::equal(to.begin(), to.end(), bytes)) << values << " values, " << count;
        }
    }
    Bytes packed(lzw_bound(0));
    packed.resize(pack_lzw({}, packed));
    EXPECT_EQ(packed, bytes_of({0x80, 0x40, 0x40}));
}

TEST(Lzw, RefusesDamagedCodes) {
    Bytes to(20);
    Codes beyond; // the table ends at 257
    beyond.add(256, 9);
    beyond.add(65, 9);
    beyond.add(300, 9);
    EXPECT_EQ(unpack_lzw(beyond.bytes, to), std::nullopt);
    EXPECT_TRUE(is_early_lzw(bytes_of({0x00, 0x01, 0x40})));
    EXPECT_FALSE(is_early_lzw(beyond.bytes));
    EXPECT_EQ(unpack_lzw(bytes_of({0x00, 0x01, 0x40, 0x10}), to), std::nullopt);
}

/// The example of Apple's Technical Note TN1023.
TEST(Packbits, UnpacksApplesExample) {
    const Bytes packed = bytes_of(
        {0xFE, 0xAA, 0x02, 0x80, 0x00, 0x2A, 0xFD, 0xAA, 0x03, 0x80, 0x00, 0x2A, 0x22, 0xF7, 0xAA});
    const Bytes right =
        bytes_of({0xAA, 0xAA, 0xAA, 0x80, 0x00, 0x2A, 0xAA, 0xAA, 0xAA, 0xAA, 0x80, 0x00,
                  0x2A, 0x22, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA});
    Bytes to(24);
    EXPECT_EQ(unpack_packbits(packed, 0, to), 24U);
    EXPECT_EQ(to, right);
    Bytes lines(24);
    EXPECT_EQ(unpack_packbits(packed, 6, lines), std::nullopt) << "a run passes the third line";
    EXPECT_EQ(unpack_packbits(packed, 24, lines), 24U);
    Bytes three(3);
    EXPECT_EQ(unpack_packbits(packed, 0, three), 3U);
}

TEST(Packbits, SkipsNothingsAndRefusesCutRuns) {
    Bytes to(4);
    EXPECT_EQ(unpack_packbits(bytes_of({0x80, 0x00, 0x07, 0x80, 0xFE, 0x09, 0x80}), 0, to), 4U);
    EXPECT_EQ(to, bytes_of({7, 9, 9, 9}));
    EXPECT_EQ(unpack_packbits(bytes_of({0x02, 1, 2}), 0, to), std::nullopt);
    EXPECT_EQ(unpack_packbits(bytes_of({0xFE}), 0, to), std::nullopt);
    EXPECT_EQ(unpack_packbits(bytes_of({0x01, 1, 2}), 0, to), 2U) << "fewer than there is room for";
    EXPECT_EQ(unpack_packbits({}, 0, to), 0U);
}

TEST(Predictor, AddsThePixelBefore) {
    Bytes grey = bytes_of({1, 1, 1, 250, 10, 1});
    add_differences(grey, {3, 1, 1, false});
    EXPECT_EQ(grey, bytes_of({1, 2, 3, 250, 4, 5})) << "each line by itself, modulo 256";
    Bytes pairs = bytes_of({1, 10, 1, 1, 2, 2});
    add_differences(pairs, {6, 1, 2, false});
    EXPECT_EQ(pairs, bytes_of({1, 10, 2, 11, 4, 13}));
    Bytes little = bytes_of({0xff, 0x00, 0x01, 0x00, 0x01, 0xff});
    add_differences(little, {3, 2, 1, false});
    EXPECT_EQ(little, bytes_of({0xff, 0x00, 0x00, 0x01, 0x01, 0x00})) << "255, 256, 1";
    Bytes big = bytes_of({0x00, 0xff, 0x00, 0x01, 0xff, 0x01});
    add_differences(big, {3, 2, 1, true});
    EXPECT_EQ(big, bytes_of({0x00, 0xff, 0x01, 0x00, 0x00, 0x01}));
    Bytes wide = bytes_of({0xff, 0xff, 0xff, 0x00, 0x01, 0, 0, 0});
    add_differences(wide, {2, 4, 1, false});
    EXPECT_EQ(wide, bytes_of({0xff, 0xff, 0xff, 0x00, 0, 0, 0, 1}));
    Bytes wider = bytes_of({0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
    add_differences(wider, {2, 8, 1, false});
    EXPECT_EQ(wider, bytes_of({0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}));
}

/// 1.0 is 3f800000, -2.0 is c0000000.
TEST(Predictor, JoinsTheBytesOfFloats) {
    const Bytes packed = bytes_of({0x3f, 0x81, 0xc0, 0x80, 0, 0, 0, 0});
    Bytes to(8);
    join_float_bytes(packed, {2, 4, 1, false}, to);
    EXPECT_EQ(to, bytes_of({0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}));
    join_float_bytes(packed, {2, 4, 1, true}, to);
    EXPECT_EQ(to, bytes_of({0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}));
}

// PNG (ISO/IEC 15948) and zlib (RFC 1950, 1951), stored and not compressed.

std::uint32_t crc32_of(const Bytes& bytes) {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const std::byte each : bytes) {
        crc ^= static_cast<std::uint32_t>(each);
        for (int bit = 0; bit < 8; ++bit) {
            crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
        }
    }
    return ~crc;
}

std::uint32_t adler32_of(const Bytes& bytes) {
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const std::byte each : bytes) {
        a = (a + static_cast<std::uint32_t>(each)) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16U | a;
}

void append(Bytes& to, std::uint32_t value, int bytes = 4) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        to.push_back(static_cast<std::byte>(value >> static_cast<unsigned>(shift) & 0xffU));
    }
}

void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

Bytes stored_stream(const Bytes& data) {
    Bytes stream = bytes_of({0x78, 0x01, 0x01});
    const auto length = static_cast<unsigned>(data.size());
    append(stream,
           bytes_of({static_cast<int>(length & 0xffU), static_cast<int>(length >> 8U),
                     static_cast<int>(~length & 0xffU), static_cast<int>(~length >> 8U & 0xffU)}));
    append(stream, data);
    append(stream, adler32_of(data));
    return stream;
}

Bytes chunk(const Bytes& data) {
    Bytes made;
    append(made, static_cast<std::uint32_t>(data.size()));
    Bytes named = bytes_of({'I', 'D', 'A', 'T'});
    append(named, data);
    append(made, named);
    append(made, crc32_of(named));
    return made;
}

/// The lines as one chunk, or as two that part the stream at a byte.
Bytes chunks_of(const Bytes& lines, std::size_t parted = 0) {
    const Bytes stream = stored_stream(lines);
    if (parted == 0) {
        return chunk(stream);
    }
    const auto middle = stream.begin() + static_cast<std::ptrdiff_t>(parted);
    Bytes both = chunk({stream.begin(), middle});
    append(both, chunk({middle, stream.end()}));
    return both;
}

bool unpacks(const Bytes& chunks, const PngPicture& picture, Bytes& to) {
    Bytes scratch(picture.scratch_bytes());
    to.assign(picture.bytes(), std::byte{0xee});
    return unpack_png(chunks, picture, scratch, to);
}

/// A line of each filter: none, the left, the one above, their mean, Paeth's.
const Bytes filtered = bytes_of({0, 10, 20, 30, 1, 5, 1, 1, 2, 1, 1, 1, 3, 10, 10, 10, 4, 1, 1, 1});
const Bytes plain = bytes_of({10, 20, 30, 5, 6, 7, 6, 7, 8, 13, 20, 24, 14, 21, 25});
constexpr PngPicture five_lines{5, 3, 8, 1};

TEST(Png, UndoesEachFilterByHand) {
    Bytes to;
    ASSERT_TRUE(unpacks(chunks_of(filtered), five_lines, to));
    EXPECT_EQ(to, plain);
    for (const std::size_t parted : {1U, 7U, 20U}) {
        ASSERT_TRUE(unpacks(chunks_of(filtered, parted), five_lines, to)) << parted;
        EXPECT_EQ(to, plain);
    }
}

TEST(Png, MakesSamplesOfAnyBits) {
    Bytes to;
    ASSERT_TRUE(unpacks(chunks_of(bytes_of({0, 0xB0, 0x40})), {1, 10, 1, 1}, to));
    EXPECT_EQ(to, bytes_of({1, 0, 1, 1, 0, 0, 0, 0, 0, 1}));
    ASSERT_TRUE(unpacks(chunks_of(bytes_of({0, 0x1B, 0x80})), {1, 5, 2, 1}, to));
    EXPECT_EQ(to, bytes_of({0, 1, 2, 3, 2}));
    ASSERT_TRUE(unpacks(chunks_of(bytes_of({0, 0x1F, 0xA0})), {1, 3, 4, 1}, to));
    EXPECT_EQ(to, bytes_of({1, 15, 10}));
    ASSERT_TRUE(unpacks(chunks_of(bytes_of({1, 0x01, 0x02, 0x01, 0xff})), {1, 2, 16, 1}, to));
    EXPECT_EQ(to, bytes_of({0x02, 0x01, 0x01, 0x02})) << "0x0102, and byte by byte 0x0201";
    ASSERT_TRUE(unpacks(chunks_of(bytes_of({1, 1, 2, 3, 1, 1, 1})), {1, 6, 8, 3}, to));
    EXPECT_EQ(to, bytes_of({1, 2, 3, 2, 3, 4})) << "the pixel before, of three channels";
}

TEST(Png, RefusesDamage) {
    Bytes to;
    const Bytes good = chunks_of(filtered);
    for (std::size_t place = 0; place < good.size(); ++place) {
        Bytes bad = good;
        bad[place] ^= std::byte{0x10};
        EXPECT_FALSE(unpacks(bad, five_lines, to)) << "byte " << place;
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(unpacks({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)},
                             five_lines, to))
            << size;
    }
    EXPECT_FALSE(unpacks(good, {6, 3, 8, 1}, to)) << "a line too few";
    Bytes no_filter = filtered;
    no_filter[0] = std::byte{5};
    EXPECT_FALSE(unpacks(chunks_of(no_filter), five_lines, to));
}

} // namespace
} // namespace runner
