// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/cuda_check.hpp"
#include "kernels/cuda_queue.hpp"

#include <cstddef>
#include <utility>

namespace runner {

/// Grid, block and dynamic shared memory of a launch.
struct LaunchShape {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
};

/// The only place that launches a kernel: makes the queue's device current, raises the kernel's
/// limit of dynamic shared memory where the shape needs more than the 48 KiB every device gives,
/// and checks the launch.
template <class... Parameters, class... Arguments>
void launch(CudaQueue& queue, const LaunchShape& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
    queue.make_current();
    constexpr std::size_t default_limit = 48 * 1024;
    if (shape.shared_bytes > default_limit) {
        cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(shape.shared_bytes)));
    }
    kernel<<<shape.grid, shape.block, shape.shared_bytes, queue.stream()>>>(
        std::forward<Arguments>(arguments)...);
    cuda_check(cudaGetLastError());
}

} // namespace runner
