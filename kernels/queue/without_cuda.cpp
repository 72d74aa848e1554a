// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/devices.hpp"

#include "kernels/queue/profile_range.hpp"
#include "kernels/queue/queue.hpp"

// The build without CUDA: what it knows of GPUs is that there are none, and no profiler to tell.
namespace runner {

std::vector<DeviceInfo> visible_devices() { return {}; }

std::int64_t free_device_memory(int /*device*/) { return 0; }

std::string cuda_versions() { return "none"; }

Queue make_queue(Backend /*backend*/, int /*device*/, int threads,
                 std::shared_ptr<StagingPool> /*staging*/) {
    return CpuQueue(threads);
}

bool device_lost() noexcept { return false; }

void start_driver() noexcept {}

void show_first_device_only() noexcept {}

void start_device(int /*nth*/) noexcept {}

ProfileRange::ProfileRange(const char* /*name*/) {}

ProfileRange::~ProfileRange() = default;

} // namespace runner
