// SPDX-License-Identifier: BSD-3-Clause
// Sizes worked by hand from HDF5's format of its n-bit and scale-offset filters. Damaged files are
// in tests/end_to_end/bad_input.py.
#include "io/inspect/check_index.hpp"

#include "io/filters/codec.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

constexpr int nbit = 5;
constexpr int scale_offset = 6;

const Filter shuffle{filter_id::shuffle, "", {4}};
const Filter fletcher{filter_id::fletcher32, "", {}};
const Filter deflate{filter_id::deflate, "", {6}};

/// 20 integers of 12 bits in 4 bytes: kind, size, order, precision and offset of the type.
const Filter narrow{nbit, "", {8, 0, 20, 1, 4, 0, 12, 0}};

/// 20 integers of 4 bytes, scaled to as many bits as each chunk takes.
const Filter scaled{scale_offset, "", {2, 0, 20, 0, 4, 1, 0, 0}};

ChunkHead bits(unsigned char low, unsigned char next = 0) {
    return {std::byte{low}, std::byte{next}, std::byte{0}, std::byte{0}};
}

/// The least bytes of a chunk of 80 bytes.
std::uint64_t least(const std::vector<Filter>& filters, std::uint32_t skipped = 0,
                    const ChunkHead& head = {}) {
    return least_stored_bytes(filters, skipped, 80, [&] { return head; });
}

TEST(LeastStoredBytes, WithoutAFilterAreTheChunks) {
    EXPECT_EQ(least({}), 80U);
    EXPECT_EQ(least({shuffle}), 80U);
    EXPECT_EQ(least({shuffle, fletcher}), 84U);
}

TEST(LeastStoredBytes, OfWhatPacksIsOne) {
    EXPECT_EQ(least({deflate}), 1U);
    EXPECT_EQ(least({narrow, deflate}), 1U);
    EXPECT_EQ(least({deflate, fletcher}), 5U);
}

TEST(LeastStoredBytes, OfNbitAreTheBitsOfItsElements) {
    EXPECT_EQ(least({narrow}), 30U); // 20 x 12 bits
    EXPECT_EQ(least({narrow, fletcher}), 34U);
    Filter odd = narrow;
    odd.parameters[6] = 11;
    EXPECT_EQ(least({odd}), 28U); // 220 bits: 27.5 bytes
    Filter unchanged = narrow;
    unchanged.parameters[1] = 1;
    EXPECT_EQ(least({unchanged}), 80U);
}

TEST(LeastStoredBytes, OfNbitCountPartsOfAnElement) {
    // Two integers of 12 bits in an array of 8 bytes: 10 x 24 bits.
    const Filter array{nbit, "", {10, 0, 10, 2, 8, 1, 4, 0, 12, 0}};
    EXPECT_EQ(least({array}), 30U);
    // 3 bits at 0, and 2 bytes as they are at 2: 20 x 19 bits are 47.5 bytes.
    const Filter compound{nbit, "", {15, 0, 20, 3, 4, 2, 0, 1, 2, 0, 3, 0, 2, 4, 2}};
    EXPECT_EQ(least({compound}), 48U);
}

TEST(LeastStoredBytes, OfNbitAreNoneWhereItsParametersAreCutOff) {
    for (std::size_t size = 0; size < narrow.parameters.size(); ++size) {
        Filter cut = narrow;
        cut.parameters.resize(size);
        EXPECT_EQ(least({cut}), 0U) << size;
    }
}

TEST(LeastStoredBytes, OfNbitAreNoneWhereItsTypeNeverEnds) {
    Filter deep{nbit, "", {0, 0, 20}};
    for (int i = 0; i < 100; ++i) {
        deep.parameters.insert(deep.parameters.end(), {2, 4});
    }
    EXPECT_EQ(least({deep}), 0U);
}

TEST(LeastStoredBytes, OfScaleOffsetAreItsHeadAndTheBitsItNotes) {
    EXPECT_EQ(least({scaled}, 0, bits(0)), 21U);
    EXPECT_EQ(least({scaled}, 0, bits(7)), 39U);           // 140 bits: 17.5 bytes
    EXPECT_EQ(least({scaled}, 0, bits(1, 1)), 21U + 643U); // 257 bits each: 642.5
    EXPECT_EQ(least({scaled, fletcher}, 0, bits(7)), 43U); // behind the rest
    EXPECT_EQ(least({scaled, shuffle}, 0, bits(7)), 21U);  // these bits are somewhere else
    EXPECT_EQ(least({scaled, deflate}, 0, bits(7)), 1U);
    Filter whole = scaled;
    whole.parameters[1] = 32;
    EXPECT_EQ(least({whole}, 0, bits(7)), 80U);
}

TEST(LeastStoredBytes, PassFiltersThatWereSkipped) {
    EXPECT_EQ(least({narrow, fletcher}, 1), 84U);
    EXPECT_EQ(least({narrow, fletcher}, 2), 30U);
    EXPECT_EQ(least({scaled, deflate}, 2, bits(7)), 39U);
}

} // namespace
} // namespace runner
