// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/profile/kernel_use.hpp"
#include "kernels/queue/devices.hpp"

#include <vector>

namespace runner {

/// Measures what each of these devices can do, those between peers included: about two seconds a
/// device, and at most 1 GiB of its memory and 512 MiB of the host's. The date is left to fill in.
/// @throws Error (gpu); Error (launch) without page-locked memory.
std::vector<DeviceRates> measure_rates(const std::vector<DeviceInfo>& devices);

} // namespace runner
