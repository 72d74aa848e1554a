// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/queue.hpp"

#include <cstdint>

namespace runner {

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
