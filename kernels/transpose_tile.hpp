// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace runner {

/// How results go to memory: through the caches, or past them where they would only drive out
/// what is needed.
enum class Stores { cached, streaming };

/// Rows become columns: out row a, element b = in row b, element a. Pitches are bytes.
struct TransposeTile {
    static constexpr std::int64_t most_across = 128; ///< bytes of an input row
    static constexpr std::int64_t most_along = 512;  ///< bytes of an output row
    /// Bytes of working memory for an element size: rows of `most_along` and a gap, so that they do
    /// not all begin in the same set of a cache.
    static constexpr std::int64_t space_pitch = most_along + 64;
    static constexpr std::int64_t space_bytes = most_across * space_pitch;

    const std::byte* in;
    std::byte* out;
    std::int64_t in_pitch;
    std::int64_t out_pitch;
    std::int64_t a; ///< elements of an input row, at most most_across bytes
    std::int64_t b; ///< input rows, at most most_along bytes of an output row
};

/// @param space space_bytes, aligned to 64.
void transpose_tile(int element_bytes, const TransposeTile& tile, std::byte* space, Stores stores);

/// Copies bytes that do not overlap.
void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes, Stores stores);

/// Makes streamed bytes visible to other threads; at the end of a thread's share.
void finish_stores();

} // namespace runner
