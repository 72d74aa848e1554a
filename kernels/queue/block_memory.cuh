// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace runner {

/// The shared memory that a launch asked for.
__device__ inline uint4* dynamic_shared() {
    extern __shared__ uint4 dynamic_shared_memory[];
    return dynamic_shared_memory;
}

/// Waits for all `threads` of the block, like __syncthreads(), but warps may arrive at different
/// places of the code: what __syncthreads() leaves undefined, and compute-sanitizer's synccheck
/// reports, where warps have roles of their own. PTX ISA, barrier.sync: it counts warps, by the
/// barrier's number; 0 is that of __syncthreads().
template <int threads> __device__ inline void sync_roles() {
    asm volatile("barrier.sync 1, %0;" ::"n"(threads) : "memory");
}

/// 16 bytes of elements, moved as one.
template <class T> struct alignas(16) Vector { T at[16 / sizeof(T)]; };

/// Starts a copy of 4, 8 or 16 bytes from global to shared memory, both aligned to the size.
/// Before compute capability 8.0 it is done at once.
template <int bytes> __device__ inline void copy_async(void* shared, const void* global) {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
#if __CUDA_ARCH__ >= 800
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    if constexpr (bytes == 16) {
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(global)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(bytes)
                     : "memory");
    }
#else
    if constexpr (bytes == 16) {
        *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
    } else if constexpr (bytes == 8) {
        *static_cast<std::uint64_t*>(shared) = *static_cast<const std::uint64_t*>(global);
    } else {
        *static_cast<std::uint32_t*>(shared) = *static_cast<const std::uint32_t*>(global);
    }
#endif
}

/// Closes a group of this thread's copies.
__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `pending` of this thread's youngest groups are unfinished.
template <int pending> __device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

} // namespace runner
