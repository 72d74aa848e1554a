// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/watchdog.hpp"

#include "base/durations.hpp"

#include <algorithm>

namespace runner {

Watchdog::Watchdog(const RunProgress& progress, Heartbeat& heartbeat, double seconds)
    : progress_(progress), heartbeat_(heartbeat), limit_(seconds) {}

std::optional<Error> Watchdog::look() {
    const auto now = Clock::now();
    // While the process itself was stopped, as Slurm's suspend does, nothing stood still.
    const double since = std::min(1.0, std::chrono::duration<double>(now - last_look_).count());
    last_look_ = now;
    if (now - last_beat_ >= std::chrono::seconds(1)) {
        last_beat_ = now;
        try {
            heartbeat_.beat();
        } catch (const Error&) {
            // The disk may be full; the run finds out by itself and says it better.
        }
    }
    if (limit_ == 0) {
        return std::nullopt;
    }
    if (heartbeat_.silence() > limit_) {
        return Error(ExitCode::launch, {"a rank gives no sign of life", heartbeat_.watched(),
                                        "for " + duration_text(heartbeat_.silence()),
                                        "Check its host; then run the same command: it resumes"});
    }
    const std::int64_t steps = progress_.steps;
    const double operations = progress_.in_flight.operations();
    const bool moved = steps != steps_ || operations != operations_;
    const bool works = progress_.under_way || progress_.surveying;
    still_ = works && !moved ? still_ + since : 0;
    steps_ = steps;
    operations_ = operations;
    if (still_ > limit_) {
        return Error(ExitCode::launch,
                     {"the job stands still", standing_text(progress_),
                      "nothing has moved for " + duration_text(still_),
                      "Check the disk and the GPU, or set run.stall_seconds higher; then run the "
                      "same command: it resumes"});
    }
    return std::nullopt;
}

} // namespace runner
