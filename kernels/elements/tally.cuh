// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/elements/tally.hpp"

namespace runner {

/// What the threads of a block have counted.
__device__ inline int& block_count() {
    __shared__ int count;
    return count;
}

__device__ inline bool is_first_thread() {
    return threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
}

/// Before any thread of the block counts or ends. All call it.
__device__ inline void begin_count(const Tally& tally) {
    if (tally.sum != nullptr) {
        if (is_first_thread()) {
            block_count() = 0;
        }
        __syncthreads();
    }
}

__device__ inline void add_to_block(int count) {
    if (count != 0) {
        atomicAdd(&block_count(), count);
    }
}

/// Adds what the block has counted to the tally: one addition in the device's memory. All threads
/// call it that have not ended; the first one has not.
__device__ inline void end_count(const Tally& tally) {
    if (tally.sum != nullptr) {
        __syncthreads();
        if (is_first_thread() && block_count() != 0) {
            atomicAdd(reinterpret_cast<unsigned long long*>(tally.sum),
                      static_cast<unsigned long long>(std::int64_t{block_count()}));
        }
    }
}

} // namespace runner
