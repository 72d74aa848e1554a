// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// What benchmarks compare `transpose` to: the steps by which a transposition on a GPU is usually
/// published. The first two only copy. A thread an element, blocks of 8 × 8 × 8 threads.
enum class TransposeBaseline {
    copy,                ///< A
    copy_through_shared, ///< B
    simple,              ///< C: the permutation is an argument; reads are in order, writes are not
    simple_template,     ///< D: the permutation is known to the compiler
    tile,                ///< E: through a tile in shared memory: reads and writes are in order
    tile_template,       ///< F
    tile_padded,         ///< G: F with a padded tile, so that no two threads meet in a bank
};

/// Dense arrays of 4 or 8 bytes an element, extents ≥ 1 and the later two at most 8 · 65535.
void transpose_baseline(CudaQueue& queue, TransposeBaseline baseline,
                        const std::array<std::int64_t, 3>& shape,
                        const std::array<int, 3>& permutation, int element_bytes,
                        const std::byte* in, std::byte* out);

/// A matrix of `rows` × `columns` (at most 8 · 65535 rows) through padded tiles in shared memory of
/// `tile` × `tile` elements: 8 or 32.
void transpose_matrix_baseline(CudaQueue& queue, int tile, std::int64_t rows, std::int64_t columns,
                               int element_bytes, const std::byte* in, std::byte* out);

} // namespace runner
