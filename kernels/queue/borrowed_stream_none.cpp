// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/borrowed_stream.hpp"

#include "base/error.hpp"

#include <string>

namespace runner {

bool has_cuda() noexcept { return false; }

Queue borrow_stream(int device, std::uintptr_t /*stream*/) {
    throw Error(ExitCode::gpu, {"there is no GPU to run on", "device " + std::to_string(device),
                                "this build has no CUDA backend",
                                "Build it where nvcc is found, or copy the array to the host"});
}

CurrentDeviceKeeper::CurrentDeviceKeeper() noexcept = default;
CurrentDeviceKeeper::~CurrentDeviceKeeper() = default;

} // namespace runner
