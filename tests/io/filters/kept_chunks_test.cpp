// SPDX-License-Identifier: BSD-3-Clause
// Chunks are kept until their last row was read, in memory that is bounded and used again.
#include "io/filters/kept_chunks.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace runner {
namespace {

constexpr std::int64_t chunk_bytes = 24;

/// Keeps a chunk whose elements are this byte, if there is room.
bool keep(KeptChunks& chunks, const Chunk& chunk, std::byte value, std::int64_t last_row) {
    auto buffer = chunks.take_buffer();
    if (!buffer) {
        return false;
    }
    buffer->assign(buffer->size(), value);
    const std::span<const std::byte> elements = std::span(*buffer).first(3);
    chunks.keep(chunk, std::move(*buffer), elements, last_row);
    return true;
}

TEST(KeptChunks, AreFoundUntilTheirLastRowWasRead) {
    KeptChunks chunks(chunk_bytes, 3 * chunk_bytes);
    ASSERT_TRUE(keep(chunks, {0, 8}, std::byte{1}, 4));
    ASSERT_TRUE(keep(chunks, {0, 16}, std::byte{2}, 5));
    chunks.drop_before(4);
    ASSERT_TRUE(chunks.find({0, 8}));
    EXPECT_EQ(chunks.find({0, 8})->size(), 3U);
    EXPECT_EQ(chunks.find({0, 8})->front(), std::byte{1});
    chunks.drop_before(5);
    EXPECT_FALSE(chunks.find({0, 8}));
    EXPECT_EQ(chunks.find({0, 16})->front(), std::byte{2});
    EXPECT_FALSE(chunks.find({0, 17}));
}

TEST(KeptChunks, TakeNoMoreMemoryThanAllowedAndUseItAgain) {
    KeptChunks chunks(chunk_bytes, 2 * chunk_bytes + 1);
    ASSERT_TRUE(keep(chunks, {0}, std::byte{1}, 9));
    ASSERT_TRUE(keep(chunks, {1}, std::byte{2}, 3));
    EXPECT_FALSE(keep(chunks, {2}, std::byte{3}, 9));
    const std::byte* const dropped = chunks.find({1})->data();
    chunks.drop_before(4);
    ASSERT_TRUE(keep(chunks, {2}, std::byte{3}, 9));
    EXPECT_EQ(chunks.find({2})->data(), dropped);
    EXPECT_EQ(chunks.find({0})->front(), std::byte{1});
}

TEST(KeptChunks, KeepOneThatIsLargerThanAllowed) {
    KeptChunks chunks(chunk_bytes, 1);
    EXPECT_TRUE(keep(chunks, {0}, std::byte{1}, 0));
    EXPECT_FALSE(keep(chunks, {1}, std::byte{1}, 0));
}

} // namespace
} // namespace runner
