// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/ranks/mpi.hpp"

#include <tuple>

namespace runner::evolve {

/// What all ranks do after a meeting; of several wishes the last in this order counts.
enum class Order { proceed, checkpoint, stop, drop };

/// What a rank says when all meet.
struct MeetingReport {
    double seconds = 0;            ///< since the meeting before
    double checkpoint_seconds = 0; ///< that its checkpoints took
    Order order = Order::proceed;  ///< that it wishes

    static auto members(auto& self) {
        return std::tie(self.seconds, self.checkpoint_seconds, self.order);
    }
};

/// The largest of each of what all ranks say. Collective.
MeetingReport agree(const Ranks& ranks, const MeetingReport& mine);

} // namespace runner::evolve
