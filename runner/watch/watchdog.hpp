// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/watch/heartbeat.hpp"
#include "runner/watch/stages.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace runner {

/// Finds out that a run stands still: that for too long no stage of this rank's stream, or of the
/// survey before it, has finished anything and no computing moved, or that another rank gave no
/// sign of life. For one thread.
class Watchdog {
  public:
    /// `seconds`: how long is too long; 0 finds nothing. The references outlive the object.
    Watchdog(const RunProgress& progress, Heartbeat& heartbeat, double seconds);

    /// A few times a second. What stands still and where, once something does.
    std::optional<Error> look();

  private:
    using Clock = std::chrono::steady_clock;

    const RunProgress& progress_;
    Heartbeat& heartbeat_;
    double limit_;
    std::int64_t steps_ = -1;
    double operations_ = 0;
    double still_ = 0; ///< seconds in which this process ran and nothing moved
    Clock::time_point last_look_ = Clock::now();
    Clock::time_point last_beat_ = Clock::now();
};

} // namespace runner
