// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/launch.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace runner {

/// A grid that may be launched in parts: `count` parts of so many blocks each, which take
/// `operations` in all.
struct LaunchParts {
    std::int64_t count = 0;
    std::int64_t blocks = 1;
    double operations = 0;
};

/// Calls `one(first, count)` to launch parts [first, first + count), in order, and counts their
/// operations on the queue. A grid that would take a large GPU more than about half a second is
/// split, since a launch cannot be ended early; but not below 4096 blocks, as the last blocks of
/// every launch leave multiprocessors idle: these are thirty waves on 132 of them.
template <class One> void launch_parts(CudaQueue& queue, const LaunchParts& parts, const One& one) {
    constexpr double most_operations = 4e12;
    constexpr std::int64_t least_blocks = 4096;
    constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();
    const double each = parts.operations / static_cast<double>(parts.count);
    const double fitting = std::min(most_operations / each, static_cast<double>(most_blocks));
    const std::int64_t blocks =
        std::clamp(static_cast<std::int64_t>(fitting) * parts.blocks, least_blocks, most_blocks);
    const std::int64_t most = std::max<std::int64_t>(1, blocks / parts.blocks);
    for (std::int64_t first = 0; first < parts.count; first += most) {
        const std::int64_t count = std::min(most, parts.count - first);
        one(first, count);
        queue.count(each * static_cast<double>(count));
    }
}

} // namespace runner
