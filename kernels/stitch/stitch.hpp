// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// Lines of pixels, each joined to another one that is mirrored: projections of a half acquisition
/// over 360°, which become projections over 180°. To the byte as docs/stitch.md says.
///
/// A line of the output has 2 · columns − overlap pixels. Where the axis of rotation is on the
/// right it begins with the first line, and the second one, its last pixel first, ends it; on the
/// left the first line ends it. `overlap` pixels in the middle have an element of each line.
struct Stitch {
    /// Where in the first line the axis of rotation is.
    enum class Side { left, right };
    /// What the pixels of the overlap become.
    enum class Blend {
        linear, ///< sums with weights that rise linearly, in float64
        none    ///< one of the two: the pixels of the first line up to the middle
    };

    ElementType in_type = ElementType::float32;
    ElementType out_type = ElementType::float32;
    std::int64_t columns = 1; ///< pixels of a line, ≥ 1
    std::int64_t samples = 1; ///< elements of a pixel, side by side
    std::int64_t overlap = 0; ///< 0 to columns
    Side side = Side::right;
    Blend blend = Blend::linear;

    // Where the input has them: groups of the same extent, in which first lines follow one another.
    std::int64_t lines = 1;    ///< first lines of a group
    std::int64_t line = 0;     ///< elements from one first line to the next
    std::int64_t partner = 0;  ///< elements from a pixel to that of the second line
    std::int64_t pixel = 1;    ///< elements from a pixel of a line to the next
    std::int64_t elements = 0; ///< of a group

    /// Invalid elements of the input (kernels/elements/invalid.hpp). In the overlap the other
    /// line's element stands for one; where both are invalid, and outside, the output's is too.
    /// Nothing: all are values.
    std::optional<double> invalid = {};

    std::int64_t out_columns() const { return 2 * columns - overlap; }
};

/// Makes the lines of so many groups, dense, one after the other. `in` and `out` are in the queue's
/// device memory, aligned to their elements, and do not overlap. The same bytes on every queue. The
/// CUDA form returns before the work is done.
void stitch(CpuQueue& queue, const Stitch& stitch, std::int64_t groups, const std::byte* in,
            std::byte* out);
void stitch(CudaQueue& queue, const Stitch& stitch, std::int64_t groups, const std::byte* in,
            std::byte* out);

} // namespace runner
