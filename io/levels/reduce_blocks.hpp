// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/output_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// Blocks of a box of elements along z, y and x. The last block along an axis has the elements that
/// are there.
struct Blocks {
    std::array<std::int64_t, 3> extents = {1, 1, 1}; ///< of the box
    std::array<std::int64_t, 3> factors = {1, 1, 1}; ///< of a block
    /// Elements from a layer of the box to the next, and from a row; 0: they lie dense.
    std::array<std::int64_t, 2> pitches = {0, 0};

    std::array<std::int64_t, 3> counts() const; ///< of blocks
};

/// Makes an element of each block, to the byte as docs/outputs.md says. `array`: the elements'
/// type, a number's or float16. Both buffers are aligned to elements and do not overlap.
void reduce_blocks(const ArrayInfo& array, const Blocks& blocks, Downsample how,
                   const std::byte* in, std::byte* out);

/// Whether sums of a level's blocks are exact in 64 bits: of integers of up to 32 bits.
bool has_exact_sums(const ArrayInfo& array);

/// The sum of each block of elements of such an array.
void sum_blocks(const ArrayInfo& array, const Blocks& blocks, const std::byte* in,
                std::int64_t* sums);

/// The same of sums of smaller blocks, of which the blocks consist.
void sum_blocks(const Blocks& blocks, const std::int64_t* in, std::int64_t* sums);

/// What reduce_blocks() makes as means, of the sums of the same blocks.
void mean_blocks(const ArrayInfo& array, const Blocks& blocks, const std::int64_t* sums,
                 std::byte* out);

} // namespace runner
