// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"
#include "kernels/transpose/transpose_axes.hpp"

#include <cstddef>

namespace runner {

/// Whether the elements along one axis are neighbours on both sides, so that rows move whole, and
/// rows are short enough to be counted in 31 bits.
bool moves_rows(const TransposeAxes& axes);

/// Whether these rows are of 64 bytes to 8 KiB, and neighbours in the output, which is one run
/// then. Vectors that cross the ends of rows are written whole.
bool rows_are_run(const TransposeAxes& axes);

/// Moves rows. @param axes such that moves_rows().
void transpose_by_rows(CudaQueue& queue, const TransposeAxes& axes, const std::byte* in,
                       std::byte* out);

} // namespace runner
