// SPDX-License-Identifier: BSD-3-Clause
// On every vector set of this machine, against a slow reading of the definition.
#include "kernels/bits/planes.hpp"

#include "tests/support/vector_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(static_cast<std::size_t>(count));
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
    return bytes;
}

Bytes byte_planes(const Bytes& from, std::int64_t count, std::int64_t size) {
    Bytes to(from.size());
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t b = 0; b < size; ++b) {
            to[static_cast<std::size_t>(b * count + i)] =
                from[static_cast<std::size_t>(i * size + b)];
        }
    }
    return to;
}

Bytes bit_planes(const Bytes& from, std::int64_t count, std::int64_t size) {
    Bytes to(from.size());
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t bit = 0; bit < 8 * size; ++bit) {
            const auto byte = from[static_cast<std::size_t>(i * size + bit / 8)];
            const std::byte value = byte >> static_cast<int>(bit % 8) & std::byte{1};
            to[static_cast<std::size_t>(bit * (count / 8) + i / 8)] |= value
                                                                       << static_cast<int>(i % 8);
        }
    }
    return to;
}

class Planes : public testing::TestWithParam<std::tuple<std::int64_t, std::int64_t>> {
  protected:
    OnlyTarget target_{std::get<0>(GetParam())};
    std::int64_t size_ = std::get<1>(GetParam());
};

TEST_P(Planes, OfBytes) {
    for (const std::int64_t count : {0, 1, 7, 16, 31, 32, 33, 100, 1024, 1025, 4096}) {
        const Bytes elements = random_bytes(count * size_, 1);
        const Bytes planes = byte_planes(elements, count, size_);
        Bytes got(elements.size());
        split_bytes(elements.data(), count, size_, got.data());
        EXPECT_EQ(got, planes) << count;
        join_bytes(planes.data(), count, size_, got.data());
        EXPECT_EQ(got, elements) << count;
    }
}

TEST_P(Planes, OfBits) {
    for (const std::int64_t count : {0, 8, 16, 24, 120, 128, 256, 264, 512, 1000, 4096}) {
        const Bytes elements = random_bytes(count * size_, 2);
        const Bytes planes = bit_planes(elements, count, size_);
        Bytes got(elements.size());
        Bytes scratch(elements.size());
        split_bits(elements.data(), count, size_, got.data(), scratch.data());
        EXPECT_EQ(got, planes) << count;
        join_bits(planes.data(), count, size_, got.data(), scratch.data());
        EXPECT_EQ(got, elements) << count;
    }
}

INSTANTIATE_TEST_SUITE_P(OnEveryVectorSet, Planes,
                         testing::Combine(testing::ValuesIn(usable_targets()),
                                          testing::Values(1, 2, 3, 4, 8, 12, 16)));

TEST(BitPlanes, OfEightElementsByHand) {
    // Elements 0x0102, 0, … 0, 0x8000 of two bytes, the low byte first: bit 1 of byte 0 and bit 0
    // of byte 1 in element 0, bit 7 of byte 1 in element 7.
    Bytes elements(16);
    elements[0] = std::byte{0x02};
    elements[1] = std::byte{0x01};
    elements[15] = std::byte{0x80};
    Bytes expected(16);
    expected[1] = std::byte{0x01};
    expected[8] = std::byte{0x01};
    expected[15] = std::byte{0x80};
    Bytes planes(16);
    Bytes scratch(16);
    split_bits(elements.data(), 8, 2, planes.data(), scratch.data());
    EXPECT_EQ(planes, expected);
}

} // namespace
} // namespace runner
