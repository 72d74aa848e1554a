// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/evolve_meeting.hpp"

#include <algorithm>
#include <sstream>
#include <string>

namespace runner {
namespace {

std::string to_text(const Standing& standing) {
    std::ostringstream text;
    text.precision(17);
    text << standing.seconds << ' ' << standing.checkpoint_seconds << ' '
         << static_cast<int>(standing.order);
    return text.str();
}

} // namespace

Standing agree(const Ranks& ranks, const Standing& mine) {
    Standing all;
    for (const std::string& text : ranks.gather(to_text(mine))) {
        std::istringstream numbers(text);
        Standing each;
        int order = 0;
        numbers >> each.seconds >> each.checkpoint_seconds >> order;
        all.seconds = std::max(all.seconds, each.seconds);
        all.checkpoint_seconds = std::max(all.checkpoint_seconds, each.checkpoint_seconds);
        all.order = std::max(all.order, static_cast<Order>(order));
    }
    return all;
}

} // namespace runner
