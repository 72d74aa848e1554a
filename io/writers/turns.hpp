// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

namespace runner {

/// Lets threads that work on items in any order do one thing in the items' order.
class Turns {
  public:
    /// Calls `work`, then, when all items before have had theirs, `turn`. After an item has failed,
    /// all later ones fail too: of these IoThreads reports the first.
    template <class Work, class Turn>
    void take(std::int64_t item, const Work& work, const Turn& turn) {
        try {
            work();
            std::unique_lock lock(mutex_);
            moved_.wait(lock, [&] { return next_ == item || failed_ < item; });
            if (failed_ < item) {
                throw Error(ExitCode::defect, {"an item before has failed", "", "", ""});
            }
            turn();
            ++next_;
        } catch (...) {
            {
                const std::lock_guard lock(mutex_);
                failed_ = std::min(failed_, item);
            }
            moved_.notify_all();
            throw;
        }
        moved_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable moved_;
    std::int64_t next_ = 0;
    std::int64_t failed_ = std::numeric_limits<std::int64_t>::max(); ///< the first item that has
};

} // namespace runner
