// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/work_meter.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace runner {

/// A chunk between its first read and its last write, at one moment.
struct ChunkInFlight {
    std::int64_t number = 0;
    std::int64_t rows = 0;
    bool counts = false;    ///< its computing is counted while it runs
    bool computing = false; ///< begun and not done
    double share = 0;       ///< of its computing that is done, 0 to 1; 0 until the end where it
                            ///< is not counted
    std::optional<double> seconds_left = {}; ///< of its computing, from how fast it went so far
};

/// The chunks in flight of one engine. Its threads tell it; any thread may look.
class InFlight {
  public:
    using Clock = std::chrono::steady_clock;

    /// A queue's meter, before the first chunk. What it counts is work that moves.
    void watch(const std::shared_ptr<WorkMeter>& meter);

    void begin(std::int64_t number, std::int64_t rows);
    /// Its computing begins: `operations` in all, 0 where they are not counted, on `meter`'s queue,
    /// which does nothing else until then.
    void compute(std::int64_t number, double operations, const std::shared_ptr<WorkMeter>& meter,
                 Clock::time_point now);
    void computed(std::int64_t number);
    /// So many of its rows are written, and are counted elsewhere from now on.
    void wrote(std::int64_t number, std::int64_t rows);
    void end(std::int64_t number);

    /// By number.
    std::vector<ChunkInFlight> chunks(Clock::time_point now) const;

    /// What all queues have counted.
    double operations() const;

    /// Drops the work of all queues, for ever.
    void drop();

  private:
    struct Entry {
        std::int64_t number = 0;
        std::int64_t rows = 0;
        double operations = 0;
        std::shared_ptr<WorkMeter> meter; ///< null: not begun to compute
        double counted_before = 0;
        Clock::time_point begun;
        bool computed = false;
    };

    Entry* find(std::int64_t number);

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<WorkMeter>> meters_;
    std::vector<Entry> entries_;
    bool dropped_ = false;
};

} // namespace runner
