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

/// Replaces invalid elements (kernels/elements/invalid.hpp) by what is around them, to the byte as
/// docs/fill.md says. Valid elements stay.
struct Fill {
    enum class Method {
        nearest, ///< the valid element at the least distance
        mean,    ///< of the valid ones in the smallest cube that has any
        number,
    };
    static constexpr int most_reach = 64;

    ElementType type = ElementType::float32;
    std::int64_t layers = 1; ///< of a frame; 1 where reach[0] is 0
    std::int64_t rows = 1;   ///< of a layer
    std::int64_t columns = 1;
    int channels = 1; ///< elements of a pixel, side by side; each channel is an image of its own
    double invalid = 0;
    Method method = Method::nearest;
    double number = 0;
    std::array<int, 3> reach = {0, 0, 0}; ///< z, y, x: how far valid elements are looked for
    /// What becomes of elements without a valid one in reach; nothing: they stay invalid.
    std::optional<double> rest = {};

    /// Whether blocks are whole layers.
    bool takes_layers() const { return reach[0] > 0; }
};

/// Elements of a call that were invalid, in device memory.
struct FillCounts {
    std::uint64_t filled = 0;
    std::uint64_t left = 0; ///< without a valid one in reach
};

/// Rows [out_first, out_first + out_rows) of each frame, which count through its layers; the input
/// buffer holds those within reach. Elements beyond the frame do not exist. Adds to `counts`.
/// Everything is in the queue's device memory, dense and aligned to its elements; `in` and `out` do
/// not overlap. The same bytes and counts on every queue and for every way to cut the frame into
/// blocks. The CUDA form returns before the work is done.
void fill(CpuQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
          std::byte* out, FillCounts* counts);
void fill(CudaQueue& queue, const Fill& fill, const RowBlock& block, const std::byte* in,
          std::byte* out, FillCounts* counts);

} // namespace runner
