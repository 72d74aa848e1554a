// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cuda_call.hpp"
#include "kernels/queue/cuda_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace runner {

/// Grid, block and dynamic shared memory of a launch, and its work where the kernel has a formula.
struct LaunchShape {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
    KernelWork work = {};
    unsigned cluster = 1; ///< blocks along x that run beside one another; compute capability 9.0
};

/// "grid 12 x 1 x 1, block 256 x 1 x 1, 4096 bytes shared", for an error.
inline std::string shape_text(const LaunchShape& shape) {
    const auto extents = [](const dim3& e) {
        return std::to_string(e.x) + " x " + std::to_string(e.y) + " x " + std::to_string(e.z);
    };
    return "grid " + extents(shape.grid) + ", block " + extents(shape.block) + ", " +
           std::to_string(shape.shared_bytes) + " bytes shared";
}

/// What a watch sees of a launch.
inline LaunchFacts facts_of(const LaunchShape& shape, const void* kernel) {
    const auto extents = [](const dim3& e) { return std::array<std::int64_t, 3>{e.x, e.y, e.z}; };
    return {kernel, extents(shape.grid), extents(shape.block),
            static_cast<std::int64_t>(shape.shared_bytes), shape.work};
}

/// The only place that launches a kernel: makes the queue's device current, raises the kernel's
/// limit of dynamic shared memory where the shape needs more than the 48 KiB every device gives,
/// and checks the launch by its own status, not by CUDA's last error, which may be another call's.
template <class... Parameters, class... Arguments>
void launch(CudaQueue& queue, const LaunchShape& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
    queue.make_current();
    constexpr std::size_t default_limit = 48 * 1024;
    if (shape.shared_bytes > default_limit) {
        cuda_call([&] {
            return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(shape.shared_bytes));
        });
    }
    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = queue.stream();
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster > 1 ? 1 : 0;
    LaunchWatch* const watch = queue.launch_watch();
    CudaQueue::Event* const end =
        watch == nullptr
            ? nullptr
            : watch->before(queue, facts_of(shape, reinterpret_cast<const void*>(kernel)));
    const cudaError_t status = cuda_status(
        [&] { return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...); });
    if (status != cudaSuccess) {
        throw_cuda_error(status, shape_text(shape));
    }
    if (end != nullptr) {
        end->record(queue);
    }
}

} // namespace runner
