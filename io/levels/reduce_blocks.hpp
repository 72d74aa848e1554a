// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/output_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

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

/// How an element is made of a block.
struct Downsampling {
    Downsample how = Downsample::mean;
    /// OutputDataset::invalid_value: where it is known, such elements are no values.
    std::optional<double> invalid = {};
};

/// Makes an element of each block, to the byte as docs/zarr.md says. `array`: the elements'
/// type, a number's or float16. Both buffers are aligned to elements and do not overlap.
void reduce_blocks(const ArrayInfo& array, const Blocks& blocks, const Downsampling& downsampling,
                   const std::byte* in, std::byte* out);

/// Whether sums of so many elements are exact in integers of `bytes`, 4 or 8.
bool has_exact_sums(const ArrayInfo& array, std::int64_t elements, std::int64_t bytes);

/// The exact sum of each block of elements, in S: std::int32_t or std::int64_t.
template <class S>
void sum_blocks(const ArrayInfo& array, const Blocks& blocks, const std::byte* in, S* sums);

/// The same of sums of smaller blocks, of which the blocks consist.
template <class S> void sum_blocks(const Blocks& blocks, const S* in, S* sums);

/// What reduce_blocks() makes as means of values, of the sums of the same blocks.
template <class S>
void mean_blocks(const ArrayInfo& array, const Blocks& blocks, const S* sums, std::byte* out);

} // namespace runner
