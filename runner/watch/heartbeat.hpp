// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace runner {

/// Tells the other ranks that this process lives, and looks after one of them: each watches the
/// next, in a ring, through a file beside the journal. What MPI does not tell: a process that is
/// stopped or whose host hangs, which the others would wait for without an end.
class Heartbeat {
  public:
    /// `folder` is there. `host`: of this rank, for the other's message. Gives the first sign.
    Heartbeat(const std::string& folder, int rank, int ranks, std::string host);

    /// A few times a second, from one thread. @throws Error (output).
    void beat();

    /// For how long, in seconds in which this process ran itself, the watched rank gave no sign
    /// after its first. 0 where this is the only rank.
    double silence() const { return silence_; }

    /// "rank 3 on node17", as far as it is known.
    std::string watched() const;

  private:
    using Clock = std::chrono::steady_clock;

    std::string folder_;
    int watched_;
    bool alone_;
    std::string host_;
    File own_;
    std::int64_t count_ = 0;
    Clock::time_point last_beat_ = Clock::now();
    double silence_ = 0;
    std::string heard_;
};

} // namespace runner
