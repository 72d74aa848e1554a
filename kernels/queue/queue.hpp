// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cpu_queue.hpp"
#include "kernels/queue/staging_pool.hpp"

#include <cstdint>
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

/// Whether this build has the CUDA backend.
bool has_cuda() noexcept;

/// A queue on a stream of another library in this process: a cudaStream_t of `device` as a number,
/// 0 for its default stream. The stream outlives the queue and the work in it. Nothing is counted
/// there, so that operations only hand in work and return.
/// @throws Error (gpu) in a build without CUDA.
Queue borrow_stream(int device, std::uintptr_t stream);

/// Makes the calling thread's CUDA device, at its end, the one that was current at its beginning:
/// queues change it, and another library of the process may rely on it. Nothing in a build without
/// CUDA.
class CurrentDeviceKeeper {
  public:
    CurrentDeviceKeeper() noexcept;
    CurrentDeviceKeeper(const CurrentDeviceKeeper&) = delete;
    CurrentDeviceKeeper& operator=(const CurrentDeviceKeeper&) = delete;
    ~CurrentDeviceKeeper();

  private:
    [[maybe_unused]] int device_ = 0;
};

} // namespace runner
