// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/stages.hpp"
#include "runner/watch/trace.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace runner {

/// Records what the stages of an engine do: busy time and bytes in `times`, the same for a viewer
/// in `progress`, and every piece of work in `trace`, which may be null. All outlive the recorder.
/// Each stage is recorded by one thread at a time. Times are seconds since the recorder was made or
/// restarted.
class StageRecorder {
  public:
    using Clock = std::chrono::steady_clock;

    StageRecorder(RunTimes& times, RunProgress& progress, Trace* trace)
        : times_(times), progress_(progress), trace_(trace) {}

    /// Makes now the start.
    void restart() { start_ = Clock::now(); }
    double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    /// The stage's next piece of work is this one; it may have to wait for it.
    void take(Stage stage, std::int64_t number);
    /// The stage works from now on, as far as a viewer is to see, until end().
    void begin(Stage stage) { progress_[stage].begin(Clock::now()); }
    void end(Stage stage) { progress_[stage].end(); }
    /// The stage had to wait for other stages.
    void add_wait(Stage stage, double seconds) { times_[stage].wait_seconds += seconds; }
    /// The stage worked on the piece of this number in [begin, end). Time that overlaps earlier
    /// work of the stage counts once.
    void add(Stage stage, std::uint64_t number, std::size_t lane, double begin, double end,
             std::int64_t bytes);

  private:
    Clock::time_point at(double seconds) const;

    RunTimes& times_;
    RunProgress& progress_;
    Trace* trace_;
    Clock::time_point start_ = Clock::now();
    std::array<double, stage_count> busy_until_{};
};

} // namespace runner
