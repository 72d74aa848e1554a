// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

namespace runner {

/// Counts that each thread keeps apart, so that none waits for another. They last from one piece
/// of the input to the next: a million counts a thread take longer to clear and to add up than
/// 16 MiB of input take to be counted.
class ThreadCounts {
  public:
    /// Each thread has `size` counts.
    explicit ThreadCounts(std::int64_t size)
        : all_([size] { return std::vector<std::uint64_t>(static_cast<std::size_t>(size)); }) {}

    /// The calling thread's.
    std::uint64_t* own() { return all_.local().data(); }

    /// Adds the counts of all threads to `sums`, which has as many, and drops them. While no thread
    /// counts.
    void move_to(std::uint64_t* sums) {
        for (const std::vector<std::uint64_t>& own : all_) {
            std::transform(own.begin(), own.end(), sums, sums, std::plus<>());
        }
        all_.clear();
    }

  private:
    tbb::enumerable_thread_specific<std::vector<std::uint64_t>> all_;
};

} // namespace runner
