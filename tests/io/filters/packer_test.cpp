// SPDX-License-Identifier: BSD-3-Clause
// That other programs unpack what is packed here is the business of oracle.rows.
#include "io/filters/codec.hpp"
#include "io/filters/packer.hpp"
#include "io/filters/shuffle.hpp"
#include "io/filters/unpacker.hpp"
#include "io/formats/rows_format.hpp"
#include "io/rows/written_format.hpp"

#include "base/error.hpp"
#include "tests/io/scratch_folder.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace runner {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

TEST(Shuffle, PutsBytesOfEqualWeightSideBySide) {
    const auto from = bytes_of({11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34});
    std::vector<std::byte> to(12);
    shuffle(from, 4, to.data());
    EXPECT_EQ(to, bytes_of({11, 21, 31, 12, 22, 32, 13, 23, 33, 14, 24, 34}));
    shuffle(from, 2, to.data());
    EXPECT_EQ(to, bytes_of({11, 13, 21, 23, 31, 33, 12, 14, 22, 24, 32, 34}));
    shuffle(from, 5, to.data()); // two bytes are left of an element
    EXPECT_EQ(to, bytes_of({11, 22, 12, 23, 13, 24, 14, 31, 21, 32, 33, 34}));
}

TEST(Unpacker, KnowsFiltersInAnyOrder) {
    const Filter shuffle{filter_id::shuffle, "", {4}};
    const Filter deflate{filter_id::deflate, "", {1}};
    const Filter fletcher{filter_id::fletcher32, "", {}};
    const Filter zstd{filter_id::zstd, "", {3}};
    EXPECT_TRUE(Unpacker::knows({}));
    EXPECT_TRUE(Unpacker::knows({shuffle}));
    EXPECT_TRUE(Unpacker::knows({zstd}));
    EXPECT_TRUE(Unpacker::knows({shuffle, deflate}));
    EXPECT_TRUE(Unpacker::knows({deflate, shuffle}));
    EXPECT_TRUE(Unpacker::knows({deflate, zstd}));
    EXPECT_TRUE(Unpacker::knows({shuffle, deflate, fletcher}));
    EXPECT_TRUE(Unpacker::knows({fletcher}));
    EXPECT_TRUE(Unpacker::knows({fletcher, deflate}));
    EXPECT_FALSE(Unpacker::knows({{filter_id::shuffle, "", {}}}));
}

TEST(Unpacker, RefusesDamagedChunks) {
    std::vector<std::byte> chunk(1000);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        chunk[i] = static_cast<std::byte>(i * i);
    }
    for (const Compression compression : {Compression::deflate, Compression::zstd}) {
        Packer packer({{}, compression, 3, false}, 1000, 1);
        const auto packed = packer.pack(chunk);
        const Filter filter{
            compression == Compression::deflate ? filter_id::deflate : filter_id::zstd, "", {3}};
        Unpacker unpacker({filter}, 1000);
        const auto good = unpacker.unpack(packed, 0, "here");
        EXPECT_TRUE(std::equal(good.begin(), good.end(), chunk.begin(), chunk.end()));

        const auto refuses = [&](std::span<const std::byte> bytes, Unpacker& by) {
            const auto error = error_of([&] { (void)by.unpack(bytes, 0, "here"); });
            return error && error->code() == ExitCode::input && error->text().where == "here";
        };
        EXPECT_TRUE(refuses(packed.first(packed.size() / 2), unpacker));
        EXPECT_TRUE(refuses({}, unpacker));
        Unpacker shorter({filter}, 999);
        Unpacker longer({filter}, 1001);
        EXPECT_TRUE(refuses(packed, shorter));
        EXPECT_TRUE(refuses(packed, longer));
        std::vector<std::byte> changed(packed.begin(), packed.end());
        changed[0] ^= std::byte{0x0f};
        EXPECT_TRUE(refuses(changed, unpacker));
    }
}

TEST(Packer, PacksWhatTheUnpackerUndoes) {
    std::mt19937 random(3);
    for (const auto compression :
         {Compression::lz4, Compression::bitshuffle_lz4, Compression::bitshuffle_zstd,
          Compression::gzip, Compression::blosc_lz4, Compression::blosc_zstd}) {
        for (const std::int64_t element : {1, 2, 4, 8, 16}) {
            for (const std::int64_t count : {1, 7, 8, 9, 4095, 4096, 5001}) {
                for (const unsigned values : {1U, 5U, 256U}) { // 256: nothing to save
                    const OutputLayout layout{{}, compression, 2, false};
                    const std::int64_t bytes = element * count;
                    std::vector<std::byte> chunk(static_cast<std::size_t>(bytes));
                    std::generate(chunk.begin(), chunk.end(),
                                  [&] { return static_cast<std::byte>(random() % values); });
                    Packer packer(layout, bytes, element);
                    Unpacker unpacker(layout_filters(layout, element), bytes);
                    const auto packed = packer.pack(chunk);
                    EXPECT_LE(std::ssize(packed), Packer::memory(layout, bytes));
                    const auto back = unpacker.unpack(packed, 0, "here");
                    EXPECT_TRUE(std::equal(back.begin(), back.end(), chunk.begin(), chunk.end()));
                }
            }
        }
    }
}

/// What the packer makes of the chunk behind `at` random bytes and before others, when it has
/// packed random bytes first.
std::vector<std::byte> packed_among(std::mt19937& random, Packer& packer,
                                    std::span<const std::byte> chunk, std::size_t at) {
    std::vector<std::byte> buffer(at + chunk.size() + 300);
    std::generate(buffer.begin(), buffer.end(), [&] { return static_cast<std::byte>(random()); });
    (void)packer.pack(std::span(buffer).first(chunk.size()));
    const auto place = std::span(buffer).subspan(at, chunk.size());
    std::copy(chunk.begin(), chunk.end(), place.begin());
    const auto packed = packer.pack(place);
    return {packed.begin(), packed.end()};
}

TEST(Packer, PacksAChunkToTheSameBytesWhateverIsAroundIt) {
    std::mt19937 random(11);
    for (const Compression compression :
         {Compression::deflate, Compression::zstd, Compression::lzw, Compression::lz4,
          Compression::bitshuffle_lz4, Compression::bitshuffle_zstd}) {
        for (const std::size_t bytes : {90U, 512U, 20000U}) { // 90: a line of colour
            std::vector<std::byte> chunk(bytes);
            for (std::size_t i = 0; i < bytes; ++i) { // float32 of a smooth image, nearly
                chunk[i] = static_cast<std::byte>(i % 4 == 2 ? i / 16 * 2 : i % 4 == 3 ? 66 : 0);
            }
            for (const int level : {1, 6}) {
                const OutputLayout layout{{}, compression, level, false};
                std::set<std::vector<std::byte>> made;
                for (int packers = 0; packers < 4; ++packers) {
                    Packer packer(layout, std::ssize(chunk), 1);
                    for (std::size_t at = 0; at < 40; ++at) {
                        made.insert(packed_among(random, packer, chunk, at));
                    }
                }
                EXPECT_EQ(made.size(), 1U)
                    << name_of(compression) << ' ' << bytes << " bytes, level " << level;
            }
        }
    }
}

TEST(Packer, HasZlibsLevelsOfDeflate) {
    std::vector<std::byte> chunk(20000);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
        chunk[i] = static_cast<std::byte>(i * i / 700 % 5);
    }
    const auto bytes_at = [&chunk](int level) {
        Packer packer({{}, Compression::deflate, level, false}, std::ssize(chunk), 1);
        return packer.pack(chunk).size();
    };
    EXPECT_GT(bytes_at(0), chunk.size()); // stored
    EXPECT_LT(bytes_at(1), chunk.size());
    EXPECT_LT(bytes_at(9), bytes_at(1));
}

/// The layout of a PNG file, whose format alone knows how lines are packed.
OutputLayout png_layout() {
    OutputLayout layout;
    layout.format = written_format_of("a.png");
    layout.compression = layout.format->usual;
    return layout;
}

TEST(Packer, PacksLinesOfPngsThatStandByThemselves) {
    std::mt19937 random(5);
    for (const ElementType type : {ElementType::uint8, ElementType::uint16}) {
        for (const auto& shape : {std::vector<std::int64_t>{9, 7}, {300, 1300}, {40, 33, 3}}) {
            OutputLayout layout = png_layout();
            layout.channels = shape.size() == 3 ? 3 : 1;
            const ArrayInfo array{type, shape};
            const std::int64_t line = byte_count(array) / shape[0];
            const std::int64_t lines = layout.format->packed->chunk(array, layout).front();
            for (const unsigned values : {1U, 3U, 256U}) {
                std::vector<std::byte> chunk(static_cast<std::size_t>(line * lines));
                std::generate(chunk.begin(), chunk.end(),
                              [&] { return static_cast<std::byte>(random() % values); });
                Packer packer(layout, std::ssize(chunk), array);
                Unpacker unpacker(layout_filters(layout, array), std::ssize(chunk));
                const std::vector<std::byte> before = [&] {
                    const auto packed = packer.pack(chunk);
                    return std::vector<std::byte>(packed.begin(), packed.end());
                }();
                EXPECT_LE(std::ssize(before), Packer::memory(layout, std::ssize(chunk)));
                // The last one of a picture is cut; the first one is packed as it was before.
                const auto cut = std::span(chunk).first(
                    static_cast<std::size_t>(line * std::max<std::int64_t>(1, lines / 3)));
                const auto packed_cut = packer.pack(cut);
                const auto back_cut = unpacker.unpack(packed_cut, 0, "here", std::ssize(cut));
                EXPECT_TRUE(std::equal(back_cut.begin(), back_cut.end(), cut.begin(), cut.end()));
                const auto packed = packer.pack(chunk);
                EXPECT_TRUE(std::equal(packed.begin(), packed.end(), before.begin(), before.end()));
                const auto back = unpacker.unpack(packed, 0, "here");
                EXPECT_TRUE(std::equal(back.begin(), back.end(), chunk.begin(), chunk.end()));
                for (const std::size_t byte : {std::size_t{1}, std::size_t{5}, before.size() / 2}) {
                    std::vector<std::byte> damaged = before;
                    damaged[byte] ^= std::byte{1};
                    EXPECT_TRUE(error_of([&] { (void)unpacker.unpack(damaged, 0, "here"); }));
                }
            }
        }
    }
}

} // namespace
} // namespace runner
