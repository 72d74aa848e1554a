// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace runner {

/// Hands values from one thread to another in order. Unbounded: the number of lanes bounds it.
template <class T> class Channel {
  public:
    /// Once the channel is closed the value is forgotten.
    void push(T value) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) {
                return;
            }
            values_.push_back(std::move(value));
        }
        changed_.notify_one();
    }

    /// Waits for the next value; nothing once the channel is closed and empty, or cut.
    std::optional<T> pop() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return closed_ || !values_.empty(); });
        if (values_.empty()) {
            return std::nullopt;
        }
        T value = std::move(values_.front());
        values_.pop_front();
        return value;
    }

    /// No more values will come.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
    }

    /// Closes and forgets what is still inside.
    void cut() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            values_.clear();
        }
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<T> values_;
    bool closed_ = false;
};

} // namespace runner
