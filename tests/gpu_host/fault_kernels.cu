// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu_host/fault_kernels.hpp"

#include "kernels/queue/launch.cuh"

#include <cstdint>

namespace runner {
namespace {

__device__ char bytes[16];

__global__ void fault_kernel(Fault fault) {
    switch (fault) {
    case Fault::trap: __trap(); break;
    case Fault::address: *reinterpret_cast<volatile int*>(std::uintptr_t{1} << 52) = 1; break;
    case Fault::alignment: *reinterpret_cast<volatile int*>(bytes + 1) = 1; break;
    }
}

} // namespace

void launch_fault(CudaQueue& queue, Fault fault) {
    launch(queue, {dim3(7), dim3(33)}, fault_kernel, fault);
}

} // namespace runner
