// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stage_recorder.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <string>

namespace runner {

StageRecorder::Clock::time_point StageRecorder::at(double seconds) const {
    return start_ +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void StageRecorder::take(Stage stage, std::int64_t number) {
    progress_.begun[static_cast<std::size_t>(stage)] = number + 1;
}

void StageRecorder::add(Stage stage, std::uint64_t number, std::size_t lane, double begin,
                        double end, std::int64_t bytes) {
    double& until = busy_until_[static_cast<std::size_t>(stage)];
    StageTimes& times = times_[stage];
    times.busy_seconds += std::max(0.0, end - std::max(begin, until));
    times.bytes += bytes;
    until = std::max(until, end);
    progress_[stage].set(times.busy_seconds, at(until));
    ++progress_.steps;
    if (trace_ != nullptr) {
        trace_->add({fmt::format("{} {}", progress_.unit, number), static_cast<int>(lane), stage,
                     begin, end, bytes});
    }
}

} // namespace runner
