// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace runner {

/// Waits for all `threads` of the block, like __syncthreads(), but warps may arrive at different
/// places of the code: what __syncthreads() leaves undefined, and compute-sanitizer's synccheck
/// reports, where warps have roles of their own. PTX ISA, barrier.sync: it counts warps, by the
/// barrier's number; 0 is that of __syncthreads().
template <int threads> __device__ inline void sync_roles() {
    asm volatile("barrier.sync 1, %0;" ::"n"(threads) : "memory");
}

} // namespace runner
