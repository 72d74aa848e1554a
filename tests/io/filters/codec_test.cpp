// SPDX-License-Identifier: BSD-3-Clause
// Packed bytes worked out by hand; those that other programs packed are in io/input/filter_files.
#include "io/filters/codec.hpp"

#include "base/error.hpp"
#include "io/filters/lz4.hpp"
#include "io/filters/shuffle.hpp"
#include "io/filters/unpacker.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Vector = std::vector<std::byte>;
using Numbers = std::vector<unsigned>;

Vector bytes_of(std::initializer_list<int> values) {
    Vector bytes;
    for (const int value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

/// What a codec makes of the bytes with so much room; nothing where it refuses.
std::optional<Vector> unpack(int id, const Numbers& parameters, const Vector& packed,
                             std::size_t room) {
    CodecMemory memory;
    Vector to(room);
    const auto bytes = codec_of(id)->unpack(parameters, packed, to, memory);
    if (!bytes) {
        return std::nullopt;
    }
    to.resize(*bytes);
    return to;
}

TEST(Lzf, HandWorked) {
    // Three literals, then nine bytes from three back, then three from twelve back.
    const Vector packed = bytes_of({2, 'a', 'b', 'c', 7 << 5, 0, 2, 1 << 5, 11});
    const Vector plain =
        bytes_of({'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'});
    EXPECT_EQ(unpack(filter_id::lzf, {}, packed, plain.size()), plain);
    EXPECT_EQ(unpack(filter_id::lzf, {}, packed, 100), plain);
    EXPECT_FALSE(unpack(filter_id::lzf, {}, packed, plain.size() - 1));
}

TEST(Lzf, RefusesWhatLeadsOutOfTheChunk) {
    EXPECT_FALSE(unpack(filter_id::lzf, {}, bytes_of({2, 'a', 'b'}), 9));          // literals end
    EXPECT_FALSE(unpack(filter_id::lzf, {}, bytes_of({0, 'a', 1 << 5}), 9));       // no distance
    EXPECT_FALSE(unpack(filter_id::lzf, {}, bytes_of({0, 'a', 1 << 5, 1}), 9));    // before byte 0
    EXPECT_FALSE(unpack(filter_id::lzf, {}, bytes_of({0, 'a', 7 << 5}), 9));       // no length
    EXPECT_FALSE(unpack(filter_id::lzf, {}, bytes_of({0, 'a', 7 << 5, 9, 0}), 9)); // too long
    EXPECT_EQ(unpack(filter_id::lzf, {}, {}, 9), Vector());
}

TEST(Lzw, HandWorked) {
    // Codes of nine bits: empty, 7, 258 (7 7, by the code that it makes itself), 8, 258, end.
    Vector packed;
    unsigned held = 0;
    int bits = 0;
    for (const unsigned code : {256U, 7U, 258U, 8U, 258U, 257U}) {
        held = held << 9U | code;
        for (bits += 9; bits >= 8; bits -= 8) {
            packed.push_back(static_cast<std::byte>(held >> static_cast<unsigned>(bits - 8)));
        }
    }
    packed.push_back(static_cast<std::byte>(held << static_cast<unsigned>(8 - bits)));
    const Vector plain = bytes_of({7, 7, 7, 8, 7, 7});
    EXPECT_EQ(unpack(filter_id::lzw, {}, packed, 6), plain);
    EXPECT_EQ(unpack(filter_id::lzw, {}, packed, 100), plain);
    EXPECT_EQ(unpack(filter_id::lzw, {}, packed, 4), bytes_of({7, 7, 7, 8}));
    // A code beyond the table, and one first that no byte is.
    EXPECT_FALSE(unpack(filter_id::lzw, {}, bytes_of({0x80, 0x01, 0xe0, 0xa0}), 9));
    EXPECT_FALSE(unpack(filter_id::lzw, {}, bytes_of({0x81, 0x80}), 9));
    EXPECT_FALSE(unpack(filter_id::lzw, {}, bytes_of({0x00, 0x01}), 9)); // the lowest bit first
}

TEST(PackBits, HandWorked) {
    const Vector packed = bytes_of({2, 1, 2, 3, 128, 254, 9}); // three bytes, nothing, 9 thrice
    EXPECT_EQ(unpack(filter_id::packbits, {0}, packed, 9), bytes_of({1, 2, 3, 9, 9, 9}));
    EXPECT_EQ(unpack(filter_id::packbits, {3}, packed, 6), bytes_of({1, 2, 3, 9, 9, 9}));
    EXPECT_EQ(unpack(filter_id::packbits, {0}, packed, 5), bytes_of({1, 2, 3, 9, 9}));
    EXPECT_FALSE(unpack(filter_id::packbits, {4}, packed, 6)); // the run passes its line's end
    EXPECT_FALSE(unpack(filter_id::packbits, {0}, bytes_of({2, 1, 2}), 9));
    EXPECT_FALSE(unpack(filter_id::packbits, {0}, bytes_of({200}), 9));
}

TEST(Predictors, HandWorked) {
    // Two lines of two pixels of two samples.
    const Vector differences = bytes_of({1, 2, 3, 4, 250, 5, 10, 250});
    EXPECT_EQ(unpack(filter_id::differences, {4, 1, 2, 0}, differences, 8),
              bytes_of({1, 2, 4, 6, 250, 5, 4, 255}));
    EXPECT_EQ(unpack(filter_id::differences, {2, 2, 1, 0}, bytes_of({255, 0, 1, 0}), 4),
              bytes_of({255, 0, 0, 1}));
    EXPECT_EQ(unpack(filter_id::differences, {2, 2, 1, 1}, bytes_of({0, 255, 0, 1}), 4),
              bytes_of({0, 255, 1, 0}));
    EXPECT_FALSE(unpack(filter_id::differences, {4, 1, 2, 0}, Vector(6), 8));
    // The high bytes 1, 2 and the low ones 3, 4 of two elements, each the difference from before.
    EXPECT_EQ(unpack(filter_id::float_differences, {2, 2, 1, 0}, bytes_of({1, 1, 1, 1}), 4),
              bytes_of({3, 1, 4, 2}));
    EXPECT_EQ(unpack(filter_id::float_differences, {2, 2, 1, 1}, bytes_of({1, 1, 1, 1}), 4),
              bytes_of({1, 3, 2, 4}));
}

TEST(Lz4, HandWorked) {
    // Seven bytes in blocks of four: the first stored, the second an LZ4 block of three literals.
    const Vector packed = bytes_of({0, 0, 0, 0, 0,    0, 0, 7, 0, 0, 0, 4, //
                                    0, 0, 0, 4, 1,    2, 3, 4,             //
                                    0, 0, 0, 4, 0x30, 5, 6, 7});
    EXPECT_EQ(unpack(filter_id::lz4, {}, packed, 7), bytes_of({1, 2, 3, 4, 5, 6, 7}));
    EXPECT_FALSE(unpack(filter_id::lz4, {}, packed, 6));
    for (std::size_t bytes = 0; bytes < packed.size(); ++bytes) {
        const Vector cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_FALSE(unpack(filter_id::lz4, {}, cut, 7)) << bytes;
    }
    Vector no_block = packed;
    no_block[11] = std::byte{0};
    EXPECT_FALSE(unpack(filter_id::lz4, {}, no_block, 7));
}

TEST(Bitshuffle, HandWorked) {
    // Ten elements of one byte: the planes of eight of them, and the last two as they are. Element
    // i of the first eight is 1 << i: it has bit i alone.
    const Vector planes = bytes_of({1, 2, 4, 8, 16, 32, 64, 128, 9, 10});
    EXPECT_EQ(unpack(filter_id::bitshuffle, {0, 3, 1}, planes, 10), planes);
    // Elements 1, 1, 0, … have bit 0 in the first two.
    EXPECT_EQ(unpack(filter_id::bitshuffle, {0, 3, 1}, bytes_of({3, 0, 0, 0, 0, 0, 0, 0}), 8),
              bytes_of({1, 1, 0, 0, 0, 0, 0, 0}));
    // The same in an LZ4 block of eight literals, and an element behind it.
    const Vector packed = bytes_of(
        {0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 9, 0x80, 3, 0, 0, 0, 0, 0, 0, 0, 77});
    const Numbers lz4 = {0, 3, 1, 0, 2};
    EXPECT_EQ(unpack(filter_id::bitshuffle, lz4, packed, 9),
              bytes_of({1, 1, 0, 0, 0, 0, 0, 0, 77}));
    EXPECT_FALSE(unpack(filter_id::bitshuffle, lz4, packed, 8));
    for (std::size_t bytes = 0; bytes < packed.size(); ++bytes) {
        const Vector cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_FALSE(unpack(filter_id::bitshuffle, lz4, cut, 9)) << bytes;
    }
}

TEST(Bitshuffle, RefusesSizesThatAreNotOfWholeElements) {
    EXPECT_FALSE(unpack(filter_id::bitshuffle, {0, 3, 4}, Vector(10), 10));
    const Vector header = bytes_of({0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 32});
    EXPECT_FALSE(unpack(filter_id::bitshuffle, {0, 3, 4, 0, 2}, header, 10));
    // Blocks of nine elements.
    const Vector odd = bytes_of({0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 9, 0, 0, 0, 1, 0});
    EXPECT_FALSE(unpack(filter_id::bitshuffle, {0, 3, 1, 0, 2}, odd, 16));
}

TEST(Szip, RefusesAPartOfAPixel) {
    // libaec decodes these bytes to 21 pixels of 8 bytes and leaves two more as they were.
    const Numbers parameters = {169, 16, 64, 17};
    Vector packed = bytes_of({170, 0, 0, 0});
    packed.resize(150);
    EXPECT_FALSE(unpack(filter_id::szip, parameters, packed, 170));
}

TEST(Szip, RefusesAStreamThatEndsBeforeItsPixels) {
    // Scan lines of 17 pixels, in blocks of 16: each line is filled up to two blocks.
    for (const unsigned bits : {8U, 16U, 32U, 64U}) {
        const Numbers parameters = {169, 16, bits, 17};
        EXPECT_FALSE(unpack(filter_id::szip, parameters, bytes_of({160, 0, 0, 0, 4}), 160)) << bits;
    }
}

TEST(Codecs, AcceptOnlyParametersThatFilesHave) {
    const auto accepts = [](int id, const Numbers& parameters) {
        return is_known({id, "", parameters});
    };
    EXPECT_FALSE(accepts(filter_id::shuffle, {}));
    EXPECT_FALSE(accepts(filter_id::shuffle, {0}));
    EXPECT_TRUE(accepts(filter_id::shuffle, {3}));
    EXPECT_FALSE(accepts(filter_id::bitshuffle, {0, 3}));
    EXPECT_FALSE(accepts(filter_id::bitshuffle, {0, 3, 0}));
    EXPECT_FALSE(accepts(filter_id::bitshuffle, {0, 3, 2, 12}));
    EXPECT_FALSE(accepts(filter_id::bitshuffle, {0, 3, 2, 0, 1}));
    EXPECT_TRUE(accepts(filter_id::bitshuffle, {0, 4, 2, 0, 3, 9}));
    EXPECT_TRUE(accepts(filter_id::szip, {141, 32, 16, 1024}));
    EXPECT_FALSE(accepts(filter_id::szip, {141, 32, 16}));
    EXPECT_FALSE(accepts(filter_id::szip, {141, 31, 16, 1024}));
    EXPECT_FALSE(accepts(filter_id::szip, {141, 32, 48, 1024}));
    EXPECT_FALSE(accepts(filter_id::szip, {141, 32, 16, 1 << 20}));
    EXPECT_FALSE(accepts(6, {})); // HDF5's scale-offset
    EXPECT_FALSE(Unpacker::knows(std::vector<Filter>(33, {filter_id::lz4, "", {}})));
}

TEST(FilterText, SaysWhatPeopleKnow) {
    EXPECT_EQ(filter_text({1, "deflate", {4}}), "deflate(4)");
    EXPECT_EQ(filter_text({3, "fletcher32", {}}), "fletcher32");
    EXPECT_EQ(filter_text({4, "szip", {141, 32, 16, 1024}}), "szip");
    EXPECT_EQ(filter_text({32008, "", {0, 3, 2, 0, 2}}), "bitshuffle with LZ4, blocks of 8.00 KiB");
    EXPECT_EQ(filter_text({32008, "", {0, 3, 4, 64}}), "bitshuffle, blocks of 256 B");
    EXPECT_EQ(filter_text({32001, "blosc", {2, 2, 4, 592, 5, 2, 5}}),
              "blosc with zstd after bitshuffle");
    EXPECT_EQ(filter_text({32004, "", {65536}}), "lz4, blocks of 64.0 KiB");
    EXPECT_EQ(filter_text({32004, "", {0}}), "lz4");
    EXPECT_EQ(filter_text({32013, "", {1, 2}}), "32013 (zfp)");
    EXPECT_EQ(filter_text({40000, "own", {}}), "40000 (own)");
    EXPECT_EQ(filter_text({40000, "", {}}), "40000");
}

TEST(Unpacker, UndoesFiltersInAnyOrderBySizesThatItKnows) {
    Vector chunk(1000);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        chunk[i] = static_cast<std::byte>(i % 7);
    }
    Vector once(lz4_bound(chunk.size()));
    once.resize(pack_lz4(chunk, once.data()));
    Vector twice(lz4_bound(once.size()));
    twice.resize(pack_lz4(once, twice.data()));
    const Filter lz4{filter_id::lz4, "", {}};
    Unpacker unpacker({lz4, lz4}, 1000);
    const auto got = unpacker.unpack(twice, 0, "here");
    EXPECT_TRUE(std::equal(got.begin(), got.end(), chunk.begin(), chunk.end()));
    const auto first_alone = unpacker.unpack(once, 2, "here");
    EXPECT_TRUE(std::equal(first_alone.begin(), first_alone.end(), chunk.begin(), chunk.end()));
    Vector to(1000);
    unpacker.unpack_to(twice, 0, "here", to);
    EXPECT_EQ(to, chunk);
    unpacker.unpack_to(chunk, 3, "here", to);
    EXPECT_EQ(to, chunk);
    const auto error = error_of([&] { (void)unpacker.unpack(once, 0, "here"); });
    ASSERT_TRUE(error);
    EXPECT_NE(error->text().why.find("lz4"), std::string::npos);
}

TEST(Crc32c, OfTheDigits) {
    // The check value that the catalogue of such checksums lists.
    const Vector digits = bytes_of({'1', '2', '3', '4', '5', '6', '7', '8', '9'});
    EXPECT_EQ(crc32c(digits), 0xe3069283U);
    EXPECT_EQ(crc32c({}), 0U);
    Unpacker unpacker({{filter_id::crc32c, "", {}}}, 9);
    Vector packed = digits;
    for (const int byte : {0x83, 0x92, 0x06, 0xe3}) {
        packed.push_back(static_cast<std::byte>(byte));
    }
    const auto elements = unpacker.unpack(packed, 0, "here");
    EXPECT_EQ(Vector(elements.begin(), elements.end()), digits);
    packed[3] ^= std::byte{1};
    EXPECT_THROW((void)unpacker.unpack(packed, 0, "here"), Error);
}

TEST(SizedLz4, HandWorked) {
    // The size, then a block: three literals, a match of six bytes three back, and literals.
    const Vector packed =
        bytes_of({15, 0, 0, 0, 0x32, 'a', 'b', 'c', 3, 0, 0x60, 'a', 'b', 'c', 'a', 'b', 'd'});
    const Vector plain =
        bytes_of({'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'd'});
    EXPECT_EQ(unpack(filter_id::sized_lz4, {}, packed, 15), plain);
    EXPECT_FALSE(unpack(filter_id::sized_lz4, {}, packed, 14));
    EXPECT_FALSE(unpack(filter_id::sized_lz4, {}, bytes_of({15, 0, 0}), 15));
    EXPECT_FALSE(unpack(filter_id::sized_lz4, {}, {}, 15));
}

TEST(Transpose, HandWorked) {
    // A chunk [2, 3] whose columns are stored one after the other.
    EXPECT_EQ(unpack(filter_id::transpose, {1, 1, 0, 2, 3}, bytes_of({1, 4, 2, 5, 3, 6}), 6),
              bytes_of({1, 2, 3, 4, 5, 6}));
    // [1, 2, 2] of two bytes, stored as axes 1, 2, 0; and one that is the same in any order.
    EXPECT_EQ(
        unpack(filter_id::transpose, {2, 1, 2, 0, 1, 2, 2}, bytes_of({1, 2, 3, 4, 5, 6, 7, 8}), 8),
        bytes_of({1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(
        unpack(filter_id::transpose, {1, 2, 0, 1, 2, 2, 2}, bytes_of({1, 2, 3, 4, 5, 6, 7, 8}), 8),
        bytes_of({1, 5, 2, 6, 3, 7, 4, 8}));
    EXPECT_FALSE(unpack(filter_id::transpose, {1, 1, 0, 2, 3}, bytes_of({1, 4, 2, 5, 3}), 6));
    EXPECT_FALSE(unpack(filter_id::transpose, {1, 1, 0, 2, 3}, bytes_of({1, 4, 2, 5, 3, 6}), 5));
}

TEST(Transpose, AcceptsEachAxisOnce) {
    const Codec& codec = *codec_of(filter_id::transpose);
    EXPECT_TRUE(codec.accepts(Numbers{4, 0, 1}));
    for (const Numbers& wrong :
         {Numbers{}, Numbers{4}, Numbers{4, 0}, Numbers{3, 1, 0, 2, 3}, Numbers{0, 1, 0, 2, 3},
          Numbers{1, 0, 0, 2, 3}, Numbers{1, 2, 0, 2, 3}, Numbers{1, 1, 0, 0, 3},
          Numbers{1, 1, 0, 2, 3, 4}, Numbers{32, 1, 0, 2, 3},
          Numbers{16, 2, 1, 0, ~0U, ~0U, ~0U}}) {
        EXPECT_FALSE(codec.accepts(wrong));
    }
}

} // namespace
} // namespace runner
