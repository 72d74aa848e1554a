// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cpu_queue.hpp"
#include "kernels/queue/staging_pool.hpp"

#include <memory>
#include <variant>

// The only condition on the backend in the tree. Without CUDA the variant has one member, so no
// operation needs a stub; with CUDA an operation without its CUDA overload does not compile.
#if defined(RUNNER_HAS_CUDA)
#include "kernels/queue/cuda_queue.hpp"
namespace runner {
using Queue = std::variant<CpuQueue, CudaQueue>;
}
#else
namespace runner {
class CudaQueue;
using Queue = std::variant<CpuQueue>;
} // namespace runner
#endif

namespace runner {

/// Where a plan's work runs. Planning for CUDA needs no CUDA.
enum class Backend { cpu, cuda };

/// A queue on this backend: `threads` for the CPU, `device` (CUDA's index) for CUDA. `staging`:
/// where page-locked memory comes from and goes to, or null.
Queue make_queue(Backend backend, int device, int threads,
                 std::shared_ptr<StagingPool> staging = nullptr);

} // namespace runner
