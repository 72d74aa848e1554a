// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/evolve_meeting.hpp"

#include <algorithm>

namespace runner::evolve {

MeetingReport agree(const Ranks& ranks, const MeetingReport& mine) {
    MeetingReport all;
    for (const MeetingReport& each : ranks.gather(mine)) {
        all.seconds = std::max(all.seconds, each.seconds);
        all.checkpoint_seconds = std::max(all.checkpoint_seconds, each.checkpoint_seconds);
        all.order = std::max(all.order, each.order);
    }
    return all;
}

} // namespace runner::evolve
