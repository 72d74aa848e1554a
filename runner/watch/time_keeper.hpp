// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/deadline.hpp"
#include "runner/watch/stages.hpp"
#include "runner/watch/stop.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace runner {

/// "stopping, signal INT: waits for 2 chunks in flight, some 12 s; a second signal drops them\n".
std::string waiting_text(const std::string& reason, const Ending& ending, const std::string& unit);

/// Ends a rank's share of a run in time: asks to stop when the deadline is near, drops what cannot
/// end before it, and says once what a stop waits for. For one thread.
class TimeKeeper {
  public:
    using Clock = std::chrono::steady_clock;

    /// `deadline`: nothing, where there is none. `longest_commit`: seconds, of the output's commits
    /// so far; called while progress.under_way. `say` gets lines; it may be empty. The references
    /// outlive the object.
    TimeKeeper(Stop& stop, RunProgress& progress, std::optional<Clock::time_point> deadline,
               std::function<double()> longest_commit,
               std::function<void(const std::string& line)> say);

    /// A few times a second.
    void look(Clock::time_point now);

  private:
    Ending ending(Clock::time_point now) const;

    Stop& stop_;
    RunProgress& progress_;
    std::optional<Clock::time_point> deadline_;
    std::function<double()> longest_commit_;
    std::function<void(const std::string& line)> say_;
    bool told_ = false;
};

} // namespace runner
