// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/deadline.hpp"

#include <algorithm>

namespace runner {

double seconds_to_finish(const Ending& ending) {
    double longest = 0;
    for (const ChunkInFlight& chunk : ending.chunks) {
        longest = std::max(longest, chunk.seconds_left.value_or(0));
    }
    return longest;
}

StopLevel due_level(double seconds_left, const Ending& ending) {
    constexpr double to_end = 1;        // of the process and its files
    constexpr double sure_share = 0.05; // before, how long a chunk takes is a guess
    const double room = seconds_left - to_end - 2 * ending.longest_commit;
    bool counts = false;
    bool hopeless = false;
    bool hopeful = false;
    for (const ChunkInFlight& chunk : ending.chunks) {
        counts = counts || chunk.counts;
        if (chunk.seconds_left) {
            const bool known = chunk.share >= sure_share;
            (known && *chunk.seconds_left > 2 * room ? hopeless : hopeful) = true;
        } else if (chunk.computing || chunk.share == 1) {
            hopeful = true;
        }
    }
    if (!ending.chunks.empty() && (room <= 0 || (hopeless && !hopeful))) {
        return StopLevel::drop_chunks;
    }
    // Where nothing is counted within a chunk, the next takes as long as any that was.
    const double needed = counts ? seconds_to_finish(ending) : 2 * ending.slowest_chunk;
    return room < needed || room <= 0 ? StopLevel::finish_chunks : StopLevel::none;
}

} // namespace runner
