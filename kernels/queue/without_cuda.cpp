// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "kernels/queue/devices.hpp"
#include "kernels/queue/queue.hpp"

#include <string>

namespace runner {

// The build without CUDA: what it knows of GPUs is that there are none, and no profiler to tell.

std::vector<DeviceInfo> visible_devices() { return {}; }

std::int64_t free_device_memory(int /*device*/) { return 0; }

std::string cuda_versions() { return "none"; }

Queue make_queue(Backend /*backend*/, int /*device*/, int threads,
                 std::shared_ptr<StagingPool> staging) {
    staging.reset(); // it is for page-locked memory alone
    return CpuQueue(threads);
}

bool device_lost() noexcept { return false; }

void start_driver() noexcept {}

void start_device(int /*nth*/) noexcept {}

ProfileRange::ProfileRange(const char* /*name*/) {}

ProfileRange::~ProfileRange() = default;

bool has_cuda() noexcept { return false; }

Queue borrow_stream(int device, std::uintptr_t /*stream*/) {
    throw Error(ExitCode::gpu, {"there is no GPU to run on", "device " + std::to_string(device),
                                "this build has no CUDA backend",
                                "Build it where nvcc is found, or copy the array to the host"});
}

CurrentDeviceKeeper::CurrentDeviceKeeper() noexcept = default;
CurrentDeviceKeeper::~CurrentDeviceKeeper() = default;

} // namespace runner
