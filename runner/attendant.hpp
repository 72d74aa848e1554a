// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/engine.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/run_command.hpp"
#include "runner/watch/heartbeat.hpp"
#include "runner/watch/ticker.hpp"
#include "runner/watch/time_keeper.hpp"
#include "runner/watch/watchdog.hpp"

namespace runner {

/// What looks after a rank's share of a run, from a thread of its own: the deadline and signals, a
/// stall, and the signs of life for the other ranks. A stall ends all ranks. All arguments outlive
/// it; the journal's folder is there while it exists.
class Attendant {
  public:
    Attendant(const RunCommand& command, const PreparedJob& prepared, const RankBinding& binding,
              const RunPlace& place, OpenRun& open, Stop& stop);

  private:
    Heartbeat heartbeat_;
    Watchdog watchdog_;
    TimeKeeper keeper_;
    Ticker ticker_; ///< last, so that it ends first
};

} // namespace runner
