// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/ranks/mpi.hpp"
#include "runner/watch/life_line.hpp"
#include "runner/watch/ticker.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace runner {

/// Looks after a rank from its start to its end, from a thread of its own; the Attendant does more
/// once the journal is there. Ranks watch each other in a ring: one that is stopped, or whose host
/// hangs, ends the job after run.stall_seconds, wherever the others wait for it. Before the
/// Attendant is there, a second signal ends the rank.
class LifeWatch {
  public:
    /// Collective. `ranks` outlives it. It may outlive Ranks::finalize(), and does best: until then
    /// the others may wait for this one.
    explicit LifeWatch(const Ranks& ranks);
    LifeWatch(const LifeWatch&) = delete;
    LifeWatch& operator=(const LifeWatch&) = delete;
    ~LifeWatch();

  private:
    using Clock = std::chrono::steady_clock;

    void connect();
    void look();
    void listen(double since);

    const Ranks& ranks_;
    LifeLine line_;
    std::string watched_; ///< "rank 1 on node7"; empty where there is no other
    std::string heard_;   ///< what that one did last
    double silence_ = 0;  ///< seconds in which this process ran and heard nothing
    Clock::time_point last_look_ = Clock::now();
    Clock::time_point last_told_;
    std::unique_ptr<Ticker> ticker_;
};

} // namespace runner
