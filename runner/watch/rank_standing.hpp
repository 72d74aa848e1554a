// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace runner {

/// What a rank's main thread lets those who look after it know, from any thread.
struct RankStanding {
    std::atomic<const char*> doing{"starting"}; ///< for messages: "looking at the input"
    std::atomic<double> stall_seconds{600};     ///< run.stall_seconds, once that is read; 0: never
    std::atomic<bool> attended{false};          ///< an Attendant ends it at signals
    std::atomic<bool> ends{false};              ///< one of those has told why all ranks end
};

} // namespace runner
