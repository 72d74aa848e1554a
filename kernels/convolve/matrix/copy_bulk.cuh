// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

// Copies by the copy engine of compute capability 9.0 and later: one thread starts the copy of a
// whole row, and a barrier in shared memory counts the bytes that have arrived. On other devices
// these functions do nothing; kernels that call them are not launched there.

namespace runner {

/// The address that instructions on shared memory take.
__device__ inline std::uint32_t shared_address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// True in one thread of the warp, the same at every call; all threads of the warp call it.
__device__ inline bool is_elected() {
    unsigned elected = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(elected));
#endif
    return elected != 0;
}

/// Orders this thread's accesses to shared memory before those of the copy engine. A barrier of
/// threads follows where other threads' accesses matter.
__device__ inline void order_before_bulk_copies() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// A barrier on which so many threads arrive in each phase; 8 bytes, aligned to 8.
__device__ inline void make_bulk_barrier(std::uint32_t barrier, int arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
#endif
}

/// Ends a barrier's use, so that its memory can serve for something else.
__device__ inline void drop_bulk_barrier(std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
#endif
}

/// The phase does not end before `bytes` more have arrived.
__device__ inline void expect_bytes(std::uint32_t barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
#endif
}

/// This thread has started its bulk copies of the phase, or has done its part of it.
__device__ inline void arrive(std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

/// The same as soon as the copies that this thread has started by copy_async() have arrived. It
/// does not wait for that.
__device__ inline void arrive_after_copies(std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
#endif
}

/// Starts a copy of a multiple of 16 bytes, both addresses aligned to 16.
__device__ inline void copy_bulk(std::uint32_t shared, const void* global, unsigned bytes,
                                 std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared),
                 "l"(global), "r"(bytes), "r"(barrier)
                 : "memory");
#endif
}

/// Waits for the end of the phase with this parity: 0 for the first. It does not wait for the phase
/// before the first one, whose parity is 1.
__device__ inline void wait_for_bytes(std::uint32_t barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n.reg .pred p;\n"
                 "again:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
#endif
}

} // namespace runner
