// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/profile/kernel_log.hpp"

// The build without CUDA: nothing is launched, and no device can be measured.
namespace runner {

class KernelLog::Launches {};

KernelLog::KernelLog() = default;

void KernelLog::watch(Queue& /*queue*/) const {}

std::vector<KernelUse> KernelLog::uses() const { return {}; }

std::vector<DeviceRates> measure_rates(const std::vector<DeviceInfo>& /*devices*/) { return {}; }

} // namespace runner
