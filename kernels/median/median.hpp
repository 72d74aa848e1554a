// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/convolve/boundary.hpp"
#include "kernels/elements/tally.hpp"
#include "kernels/queue/queue.hpp"
#include "kernels/queue/row_block.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// The median of a window about every element, to the byte as docs/median.md says. Elements are
/// ordered by ordered_key() (kernels/elements/ordered_key.hpp): −0 before 0, NaN after all numbers;
/// a median that is NaN is the quiet one. Output and input have one type.
struct Median {
    static constexpr int most_extent = 15;
    static constexpr int most_elements = 343;

    ElementType type = ElementType::float32;
    std::int64_t layers = 1; ///< of a frame; 1 where size[0] is
    std::int64_t rows = 1;   ///< of a layer
    std::int64_t columns = 1;
    std::array<int, 3> size = {1, 3, 3}; ///< z, y, x; odd
    Boundary boundary = Boundary::reflect;
    double fill = 0; ///< for Boundary::constant, converted to the type
    /// Where given, x becomes the median only if |x − median| is greater, both as float64 (of
    /// integers exactly); it stays otherwise, also where either is NaN.
    std::optional<double> difference = {};
    /// On which side of the median x must be for that.
    enum class Side { both, above, below };
    Side side = Side::both;
    /// Invalid elements (kernels/elements/invalid.hpp), which stay so: the median is that of the
    /// window's others, of an even number of them the lower one of the middle. Nothing: all are
    /// values.
    std::optional<double> invalid = {};

    int elements() const { return size[0] * size[1] * size[2]; }
    /// Whether blocks are whole layers: their rows beyond the layer are then known.
    bool takes_layers() const { return size[0] > 1; }
};

/// Operations of a block, about as float32 operations (see StreamJob::operations).
double median_operations(const Median& median, const RowBlock& block);

/// out = the medians of rows [out_first, out_first + out_rows) of each frame, where rows count
/// through the frame's layers; whole layers if takes_layers(). `in` and `out` are in the queue's
/// device memory, dense, aligned to their elements, and do not overlap. The same bytes on every
/// queue and for every way to cut the frame into blocks. Where there is a difference, `replaced`
/// counts the elements that became their median, in rows of the output counted through all frames.
/// The CUDA form returns before the work is done.
void median(CpuQueue& queue, const Median& median, const RowBlock& block, const std::byte* in,
            std::byte* out, const Tally& replaced = {});
void median(CudaQueue& queue, const Median& median, const RowBlock& block, const std::byte* in,
            std::byte* out, const Tally& replaced = {});

} // namespace runner
