// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/in_flight.hpp"
#include "runner/watch/stop.hpp"

#include <vector>

namespace runner {

/// What a run that must end would still have to do.
struct Ending {
    std::vector<ChunkInFlight> chunks;
    double slowest_chunk = 0;  ///< seconds from a chunk's first read to its last write
    double longest_commit = 0; ///< seconds
};

/// Until the chunks that are being computed are done, as far as is known; 0 where nothing is.
double seconds_to_finish(const Ending& ending);

/// What is due with so many seconds to the deadline: no more chunks once those in flight take the
/// time there is; none of them once there is time for nothing but writing down what is done, or
/// none could end in twice the time there is.
StopLevel due_level(double seconds_left, const Ending& ending);

} // namespace runner
