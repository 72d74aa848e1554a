// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/transpose/transpose_axes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

class CudaQueue;

/// A transposition to short rows of an odd number of elements that are neighbours in the output. A
/// tile holds whole ones, so what leaves is one run. The input's rows come in as words of 4 bytes,
/// whose elements go one by one to where the output wants them in shared memory.
struct ScatterPlan {
    int element_bytes = 1;
    std::int64_t count = 1;    ///< output rows, which an input row crosses
    std::int64_t in_pitch = 0; ///< bytes from an input row to the next
    TransposeAxis c;           ///< the batch, with its strides in bytes
    int rows = 1;              ///< input rows: elements of an output row
    int across = 1;            ///< output rows in a tile
    bool at_words = false;     ///< the input's rows begin at words
    int margin = 0;            ///< output rows before a tile's that its first words reach
    int in_lanes = 1;          ///< threads side by side along an input row
    int shared_bytes = 0;

    constexpr int row_bytes() const { return rows * element_bytes; } ///< of the output
};

/// Nothing where the transposition is not of this kind: elements of 1 and 2 bytes, output rows of
/// at most 640 bytes.
std::optional<ScatterPlan> plan_scatter(const TransposeAxes& axes, const std::byte* in);

/// The plan where it is faster than the other kernels
/// (bench/results/transpose-2026-11-25-h200.txt).
std::optional<ScatterPlan> choose_scatter(const TransposeAxes& axes, const std::byte* in);

/// Transposes as planned for `in`.
void transpose_scattered(CudaQueue& queue, const ScatterPlan& plan, const std::byte* in,
                         std::byte* out);

} // namespace runner
