// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// One axis of a transposition: how many elements, and how far apart they are on either side.
struct TransposeAxis {
    std::int64_t extent = 1;
    std::int64_t in = 0; ///< strides, in elements
    std::int64_t out = 0;

    bool operator==(const TransposeAxis&) const = default;
};

/// A transposition reduced to what moves: axes of one element are gone, axes that stay neighbours
/// are one, and neighbours that always move together are one wider element.
struct TransposeAxes {
    std::array<TransposeAxis, 3> axis{}; ///< the output's slowest first; unused ones at the end
    int count = 0;                       ///< of axes in use
    int element_bytes = 1;               ///< 1, 2, 4, 8 or 16

    /// The axis along which the input is read, the output written: that of the least stride there,
    /// −1 without axes.
    int in_fastest() const;
    int out_fastest() const;
    std::int64_t elements() const;
};

/// A batch of matrices to transpose: runs of the input cross those of the output.
struct CrossingAxes {
    std::int64_t point = 1; ///< elements that stay together: the fastest axis of both sides
    TransposeAxis a;        ///< along a run of the input
    TransposeAxis b;        ///< along one of the output
    TransposeAxis c;        ///< the batch
};

/// Nothing where the points of a run are not neighbours on either side, or fewer than two axes
/// move.
std::optional<CrossingAxes> crossing_axes(const TransposeAxes& axes);

/// Rows of one side of the array: row i begins at (i / minor) · far + (i mod minor) · near bytes,
/// without a fold at i · far.
struct TransposeRows {
    std::int64_t count = 1;
    std::int64_t minor = 1;
    std::int64_t far = 0;
    std::int64_t near = 0;

    /// Where the last one begins.
    std::int64_t last() const { return (count - 1) / minor * far + (count - 1) % minor * near; }
};

/// `in` and `out` matter for their alignment only.
TransposeAxes reduce_axes(const Transposition& transposition, const std::byte* in,
                          const std::byte* out);

} // namespace runner
