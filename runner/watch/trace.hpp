// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// Something that took time: a chunk in one stage of one lane. Seconds since the run's beginning.
struct TraceEvent {
    std::string name; ///< "chunk 7"
    int lane = 0;
    Stage stage = Stage::read;
    double start = 0;
    double end = 0;
    std::int64_t bytes = 0;
};

/// What one rank did and when, taken down by several threads: every event up to `capacity` (what
/// comes after is counted and left out), and the whole run as a timeline of at most `bars` bars. So
/// a long run stays bounded.
class Trace {
  public:
    static constexpr std::size_t default_capacity = 200000;

    /// Room for the events is taken here. `bars` 0: no timeline is kept.
    explicit Trace(std::size_t capacity = default_capacity, std::size_t bars = 0);

    /// Safe from any thread.
    void add(TraceEvent event);

    /// Events that found no room.
    std::size_t dropped() const;

    const Timeline& timeline() const { return timeline_; }

    /// The rank's events as elements of a Chrome trace's array, separated by commas: a process
    /// `number` called `process`, in it a row for every lane and stage; times are moved by `offset`
    /// seconds. Empty without events.
    std::string chrome_events(int number, const std::string& process, double offset = 0) const;

  private:
    mutable std::mutex mutex_;
    std::size_t capacity_;
    std::size_t dropped_ = 0;
    std::vector<TraceEvent> events_;
    Timeline timeline_;
};

/// The ranks' chrome_events() as one document, for chrome://tracing and ui.perfetto.dev.
std::string chrome_trace(std::span<const std::string> ranks);

/// Writes that document to a file. @throws Error (output).
void write_chrome_trace(const std::string& path, std::span<const std::string> ranks);

} // namespace runner
