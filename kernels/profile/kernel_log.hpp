// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/profile/kernel_use.hpp"
#include "kernels/queue/devices.hpp"
#include "kernels/queue/queue.hpp"

#include <memory>
#include <vector>

namespace runner {

/// Counts and times the launches of queues of one GPU. Of queues of the CPU there are none. A
/// timed launch has an event before and behind it: about 2 µs on the device. Where kernels of two
/// queues run at once, each takes the time of both.
class KernelLog {
  public:
    KernelLog();

    /// The queue's launches from now on.
    void watch(Queue& queue) const;

    /// What the launches did so far, the longest first. Waits for those that are timed. Not beside
    /// launches. @throws Error (gpu).
    std::vector<KernelUse> uses() const;

  private:
    class Launches;
    std::shared_ptr<Launches> launches_;
};

/// Measures what each of these devices can do, those between peers included: about two seconds a
/// device, and at most 1 GiB of its memory and 512 MiB of the host's. The date is left to fill in.
/// @throws Error (gpu); Error (launch) without page-locked memory.
std::vector<DeviceRates> measure_rates(const std::vector<DeviceInfo>& devices);

} // namespace runner
