// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"
#include "kernels/queue/row_block.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// What becomes of blocks beyond the last whole one of an axis.
enum class BinEdge {
    drop,    ///< there are none
    partial, ///< the last has the elements that are there
};

/// Sums or means of blocks of elements, to the byte as docs/bin.md says: elements are added up in
/// float64 in z, y, x order, from 0 on; the sum is divided by the count of elements for a mean; the
/// result becomes an element of the output by converted() (kernels/elements/elements.hpp).
struct Bin {
    enum class Value { mean, sum };

    ElementType in_type = ElementType::float32;
    ElementType out_type = ElementType::float32;
    std::int64_t layers = 1; ///< of a frame; 1 where factors[0] is
    std::int64_t rows = 1;   ///< of a layer
    std::int64_t columns = 1;
    int channels = 1; ///< elements of a pixel, side by side; each channel is an image of its own
    std::array<std::int64_t, 3> factors = {1, 1, 1}; ///< z, y, x; each ≥ 1
    Value value = Value::mean;
    BinEdge edge = BinEdge::drop;
    /// Invalid elements of the input (kernels/elements/invalid.hpp), which are left out: the count
    /// is that of the others, and a block without others is invalid. Nothing: all are values.
    std::optional<double> invalid = {};

    /// Blocks along an axis of so many elements.
    std::int64_t blocks(std::int64_t extent, std::int64_t factor) const {
        return edge == BinEdge::drop ? extent / factor : (extent + factor - 1) / factor;
    }
    std::int64_t out_layers() const { return blocks(layers, factors[0]); }
    std::int64_t out_rows() const { return blocks(rows, factors[1]); }
    std::int64_t out_columns() const { return blocks(columns, factors[2]); }
};

/// Makes the blocks of rows [out_first, out_first + out_rows) of each frame, which the input buffer
/// holds and no others; rows count through the frame's layers. The range begins on a multiple of
/// factors[1] rows, or of factors[0] whole layers where that is above 1, and ends on one or with
/// the frame. `in` and `out` are in the queue's device memory, dense, aligned to their elements,
/// and do not overlap. The same bytes on every queue. The CUDA form returns before the work is
/// done.
void bin(CpuQueue& queue, const Bin& bin, const RowBlock& block, const std::byte* in,
         std::byte* out);
void bin(CudaQueue& queue, const Bin& bin, const RowBlock& block, const std::byte* in,
         std::byte* out);

} // namespace runner
