// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/stages.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace runner {

/// What one stage did in one lane from `start` to `end`: one chunk, or several in a row, with the
/// gaps between them. Seconds since the rank's engine began.
struct Bar {
    int lane = 0;
    Stage stage = Stage::read;
    double start = 0;
    double end = 0;
    double busy = 0;         ///< of these seconds, in which it worked
    std::int64_t events = 1; ///< chunks, boxes or generations
    std::int64_t bytes = 0;
    std::string first; ///< name of the first of them: "chunk 7"

    bool operator==(const Bar&) const = default;
    static auto members(auto& self) {
        return std::tie(self.lane, self.stage, self.start, self.end, self.busy, self.events,
                        self.bytes, self.first);
    }
};

/// What one rank did and when, in bounded memory however long it runs: where there are more than
/// `most` bars, neighbours of one lane and stage that together span little time become one.
class Timeline {
  public:
    /// More remain only where there are more lanes and stages. 0: nothing is kept.
    explicit Timeline(std::size_t most);

    /// Safe from any thread. One event.
    void add(Bar bar);

    /// By lane, stage and start.
    std::vector<Bar> bars() const;

    /// Seconds: neighbours that together span no more were made one; 0 where every event has a bar.
    double resolution() const;

  private:
    mutable std::mutex mutex_;
    std::size_t most_;
    double resolution_ = 0;
    std::vector<Bar> bars_;
};

/// Sorts by lane, stage and start, then makes neighbours of one lane and stage one that together
/// span no more than `resolution` seconds.
std::vector<Bar> merge_bars(std::vector<Bar> bars, double resolution);

} // namespace runner
