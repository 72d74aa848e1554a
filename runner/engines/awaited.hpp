// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/stage_threads.hpp"

#include <condition_variable>
#include <mutex>

namespace runner {

/// A value that threads of stages change, and that the thread which started them waits for.
template <class T> class Awaited {
  public:
    /// Calls change(value) while no other thread uses the value, and wakes the waiting thread.
    template <class Change> void change(const Change& change) {
        {
            const std::lock_guard lock(mutex_);
            change(value_);
        }
        changed_.notify_all();
    }

    /// Waits until is_met(value). @throws the first failure of `threads`, if one fails before.
    template <class Condition> void wait(const StageThreads& threads, const Condition& is_met) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_met(value_) || threads.failed(); });
        threads.rethrow_failure();
    }

    /// After a failure: wakes the waiting thread. It takes the lock, so that a thread which has
    /// just found no failure is waiting by then.
    void wake() {
        change([](const T& /*value*/) {});
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    T value_{};
};

} // namespace runner
