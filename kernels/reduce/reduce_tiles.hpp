// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/reduce/reduce_rules.hpp"

#include <algorithm>
#include <cstdint>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {

/// Calls `work` for each tile, in the threads of the queue.
template <class Work>
void for_tiles(CpuQueue& queue, const GroupLayout& layout, std::int64_t groups, const Work& work) {
    const ReduceTiles tiles(layout, groups);
    queue.run([&] {
        tbb::parallel_for(std::int64_t{0}, tiles.count(),
                          [&](std::int64_t index) { work(tiles[index]); });
    });
}

/// Calls `work` with the first element's number, its offset and the number of elements of each run
/// of elements [first, end) that are layout.reduced[2].stride apart.
template <class Work>
void for_element_runs(const GroupLayout& layout, std::int64_t first, std::int64_t end,
                      const Work& work) {
    const std::int64_t extent = layout.reduced[2].extent;
    while (first < end) {
        const std::int64_t count = std::min(extent - first % extent, end - first);
        work(first, layout.element(first), count);
        first += count;
    }
}

} // namespace runner
