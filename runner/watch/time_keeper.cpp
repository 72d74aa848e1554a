// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/time_keeper.hpp"

#include "base/durations.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace runner {

std::string waiting_text(const std::string& reason, const Ending& ending, const std::string& unit) {
    std::string text = "stopping, " + reason;
    const auto waited_for = [](const ChunkInFlight& chunk) {
        return chunk.computing || chunk.share == 1;
    };
    const auto count = std::count_if(ending.chunks.begin(), ending.chunks.end(), waited_for);
    if (count == 0) {
        return text + "\n";
    }
    text += fmt::format(": waits for {} {}{} in flight", count, unit,
                        (count == 1      ? ""
                         : unit == "box" ? "es"
                                         : "s"));
    if (const double seconds = seconds_to_finish(ending); seconds > 0) {
        text += ", some " + duration_text(std::ceil(seconds));
    }
    return text + "; a second signal drops " + (count == 1 ? "it\n" : "them\n");
}

TimeKeeper::TimeKeeper(Stop& stop, RunProgress& progress, std::optional<Clock::time_point> deadline,
                       std::function<double()> longest_commit,
                       std::function<void(const std::string& line)> say)
    : stop_(stop), progress_(progress), deadline_(deadline),
      longest_commit_(std::move(longest_commit)), say_(std::move(say)) {}

Ending TimeKeeper::ending(Clock::time_point now) const {
    Ending ending;
    ending.chunks = progress_.in_flight.chunks(now);
    ending.slowest_chunk = progress_.slowest_chunk;
    ending.longest_commit = progress_.under_way ? longest_commit_() : 0;
    return ending;
}

void TimeKeeper::look(Clock::time_point now) {
    stop_.look();
    if (deadline_ && stop_.level() < StopLevel::drop_chunks) {
        const std::chrono::duration<double> left = *deadline_ - now;
        switch (due_level(left.count(), ending(now))) {
        case StopLevel::none: break;
        case StopLevel::finish_chunks: stop_.ask("--max-time"); break;
        case StopLevel::drop_chunks: stop_.ask_to_drop("--max-time"); break;
        }
    }
    if (stop_.level() >= StopLevel::finish_chunks && !told_) {
        told_ = true;
        if (say_) {
            say_(waiting_text(stop_.reason(), ending(now), progress_.unit));
        }
    }
    if (stop_.level() >= StopLevel::drop_chunks) {
        progress_.in_flight.drop();
    }
}

} // namespace runner
