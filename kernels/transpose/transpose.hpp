// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner {

/// A box of three axes whose axes change places. Strides are counted in elements; they let a box be
/// taken out of a larger array, rows be padded, or a box be put into a larger one.
struct Transposition {
    std::array<std::int64_t, 3> shape{};        ///< of the input, slowest axis first, each ≥ 0
    std::array<int, 3> permutation = {0, 1, 2}; ///< output axis i is input axis permutation[i]
    int element_bytes = 1;                      ///< 1, 2, 4, 8 or 16
    std::array<std::int64_t, 3> in_strides{}; ///< from an index of an input axis to the next, ≥ 1
    std::array<std::int64_t, 3> out_strides{}; ///< the same for the output's axes

    bool operator==(const Transposition&) const = default;
};

/// The transposition of a whole array to a whole array, both row-major without gaps.
Transposition dense_transposition(const std::array<std::int64_t, 3>& shape,
                                  const std::array<int, 3>& permutation, int element_bytes);

/// out[k0][k1][k2] = in[i0][i1][i2] with k_j = i_permutation[j]: as numpy.transpose. Bytes are
/// moved, never interpreted; bytes of `out` between its elements keep what they hold.
///
/// `in` and `out` are device memory of the queue, aligned to element_bytes; they do not overlap,
/// and no two elements of `out` share a place. The CUDA form returns before the work is done.
void transpose(CpuQueue& queue, const Transposition& transposition, const std::byte* in,
               std::byte* out);
void transpose(CudaQueue& queue, const Transposition& transposition, const std::byte* in,
               std::byte* out);

} // namespace runner
