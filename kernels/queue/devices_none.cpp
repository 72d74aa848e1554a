// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/devices.hpp"

#include "kernels/queue/queue.hpp"

// The build without CUDA: what it knows of GPUs is that there are none.
namespace runner {

std::vector<DeviceInfo> visible_devices() { return {}; }

std::int64_t free_device_memory(int /*device*/) { return 0; }

std::string cuda_versions() { return "none"; }

Queue make_queue(Backend /*backend*/, int /*device*/, int threads) { return CpuQueue(threads); }

bool device_lost() noexcept { return false; }

void start_driver() noexcept {}

void start_first_device() noexcept {}

} // namespace runner
