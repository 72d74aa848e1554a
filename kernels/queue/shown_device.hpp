// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace runner {

/// The element of a list as CUDA_VISIBLE_DEVICES has it, "0,2" or "GPU-…,GPU-…", that process `nth`
/// of a host takes when processes take devices in turn. Empty where the list is.
std::string nth_of_devices(std::string_view list, int nth);

/// Devices "0,1,…" of this host, by the files that NVIDIA's driver has for them (`folder`/nvidia0
/// and so on), without starting the driver. Empty where there is none.
std::string list_of_devices(const std::string& folder = "/dev");

/// Hides all devices from CUDA but that of process `nth` of this host, where processes take them in
/// turn: the driver starts each that it shows, 0.2 s for a second one. Processes reach the memory
/// of each other's devices all the same. Before the process has threads, as it writes to the
/// environment, and before the driver starts.
void show_one_device_only(int nth);

} // namespace runner
