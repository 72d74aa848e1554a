// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <exception>

namespace runner {

/// Thrown out of an operation whose work was dropped. What the operation was to make is undefined.
class WorkDropped : public std::exception {
  public:
    const char* what() const noexcept override { return "the work was dropped"; }
};

/// How much work a queue has done since it was made, in operations: the count of an operation that
/// takes long, such as match_operations(). A queue counts while it works, so another thread sees
/// work that moves before the whole operation ends, and can end it early.
class WorkMeter {
  public:
    /// From any thread.
    void add(double operations) noexcept { done_.fetch_add(operations, std::memory_order_relaxed); }
    double done() const noexcept { return done_.load(std::memory_order_relaxed); }

    /// From any thread: the queue's operations throw WorkDropped at their next count, for ever.
    void drop() noexcept { dropped_ = true; }
    /// @throws WorkDropped after drop().
    void check() const {
        if (dropped_) {
            throw WorkDropped();
        }
    }

  private:
    std::atomic<double> done_{0};
    std::atomic<bool> dropped_{false};
};

} // namespace runner
