// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace runner {

/// Where a kernel adds up what it counts, and in which rows of its output, or elements, as the
/// kernel says: those from `first` to before `last`.
struct Tally {
    std::uint64_t* sum = nullptr; ///< in the queue's device memory; null: nothing is counted
    std::int64_t first = 0;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();

    /// constexpr, so that device code can call it too.
    constexpr bool takes(std::int64_t at) const {
        return sum != nullptr && at >= first && at < last;
    }
    /// On a CPU, from any thread. Below 0 it takes back what was counted before.
    void add(std::int64_t more) const {
        if (sum != nullptr && more != 0) {
            std::atomic_ref(*sum).fetch_add(static_cast<std::uint64_t>(more),
                                            std::memory_order_relaxed);
        }
    }
};

} // namespace runner
