// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/cpu_queue.hpp"

#include <cstdint>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {

/// Calls work(i) for 0 ≤ i < parts on all threads of the queue; counts `operations` for them all.
template <class Work>
void for_parts(CpuQueue& queue, std::int64_t parts, double operations, const Work& work) {
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, parts), [&](const Range& range) {
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                work(i);
                queue.count(operations / static_cast<double>(parts));
            }
        });
    });
}

} // namespace runner
