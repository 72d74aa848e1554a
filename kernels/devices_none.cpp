// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/devices.hpp"

// The build without CUDA: what it knows of GPUs is that there are none.
namespace runner {

std::vector<DeviceInfo> visible_devices() { return {}; }

std::int64_t free_device_memory(int /*device*/) { return 0; }

std::string cuda_versions() { return "none"; }

void start_driver() noexcept {}

} // namespace runner
