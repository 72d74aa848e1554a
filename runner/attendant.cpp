// SPDX-License-Identifier: BSD-3-Clause
#include "runner/attendant.hpp"

#include "base/text.hpp"
#include "io/output/journal.hpp"
#include "runner/messages.hpp"
#include "runner/open_run.hpp"
#include "runner/watch/progress.hpp"

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

/// The time keeper of this rank; the first one says what a stop waits for.
TimeKeeper time_keeper(const RunCommand& command, const Ranks& ranks, Clock::time_point start,
                       OpenRun& open, Stop& stop) {
    std::optional<Clock::time_point> deadline;
    if (command.max_seconds) {
        deadline = start + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(*command.max_seconds));
    }
    const auto longest_commit = [&open] { return open.commits->longest_seconds(); };
    std::function<void(const std::string&)> say_line;
    if (ranks.first()) {
        say_line = [](const std::string& line) {
            (void)std::fputs((std::string(over_progress(stderr)) + printable_lines(line)).c_str(),
                             stderr);
        };
    }
    return {stop, open.progress, deadline, longest_commit, say_line};
}

} // namespace

Attendant::Attendant(const RunCommand& command, const PreparedJob& prepared,
                     const RankBinding& binding, const RunPlace& place, OpenRun& open, Stop& stop)
    : heartbeat_(journal_folder(prepared.file.output.file), place.ranks.rank(), place.ranks.size(),
                 binding.host),
      watchdog_(open.progress, heartbeat_, prepared.file.run.stall_seconds),
      keeper_(time_keeper(command, place.ranks, place.start, open, stop)),
      ticker_([this, &binding, &ranks = place.ranks] {
          keeper_.look(Clock::now());
          const std::optional<Error> stall = watchdog_.look();
          if (stall && !ranks.standing().ends.exchange(true)) {
              tell_error(with_rank(*stall, binding, ranks).what());
              ranks.abort(stall->code());
          }
      }) {
    place.ranks.standing().attended = true;
}

} // namespace runner
