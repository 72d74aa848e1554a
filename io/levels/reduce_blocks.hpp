// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/output_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// Blocks of a box of elements that lie dense, along z, y and x. The last block along an axis has
/// the elements that are there.
struct Blocks {
    std::array<std::int64_t, 3> extents = {1, 1, 1}; ///< of the box
    std::array<std::int64_t, 3> factors = {1, 1, 1}; ///< of a block

    std::array<std::int64_t, 3> counts() const; ///< of blocks
};

/// Makes an element of each block, to the byte as docs/outputs.md says. `array`: the elements'
/// type, a number's or float16. Both buffers are aligned to elements and do not overlap.
void reduce_blocks(const ArrayInfo& array, const Blocks& blocks, Downsample how,
                   const std::byte* in, std::byte* out);

} // namespace runner
