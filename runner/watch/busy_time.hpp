// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>

namespace runner {

/// How long a stage has worked on at least one chunk, with the one it works on now. One thread or
/// several tell it, any may look.
class BusyTime {
  public:
    using Clock = std::chrono::steady_clock;

    /// Work on something begins; of several at once the first counts.
    void begin(Clock::time_point now) {
        const std::lock_guard lock(mutex_);
        if (begun_++ == 0) {
            since_ = now;
        }
    }
    void end() {
        const std::lock_guard lock(mutex_);
        --begun_;
    }
    /// So many seconds are known, of all that was done up to `until`.
    void set(double seconds, Clock::time_point until) {
        const std::lock_guard lock(mutex_);
        seconds_ = seconds;
        until_ = std::max(until_, until);
    }

    double seconds(Clock::time_point now) const {
        const std::lock_guard lock(mutex_);
        const std::chrono::duration<double> more = now - std::max(since_, until_);
        return begun_ > 0 ? seconds_ + std::max(0.0, more.count()) : seconds_;
    }

  private:
    mutable std::mutex mutex_;
    int begun_ = 0;
    Clock::time_point since_;
    Clock::time_point until_;
    double seconds_ = 0;
};

} // namespace runner
