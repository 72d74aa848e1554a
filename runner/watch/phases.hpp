// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace runner {

/// A stretch of a command's time.
struct Phase {
    std::string name; ///< what the process does in it: "the input"
    double seconds = 0;
};

/// What a command's time goes to, from the start of its process on: gapless phases, one after the
/// other.
class Phases {
  public:
    using Clock = std::chrono::steady_clock;

    /// The phases until now, of a program whose main() began at `start`: loading it, and `next`.
    Phases(Clock::time_point start, std::string next);

    /// The phase ends here, and the next begins.
    void begin(std::string name);
    /// The last `seconds` of the phase are one of their own, which ends here; the phase continues.
    void split(const std::string& name, double seconds);

    /// All of them so far; those of one name are one.
    std::vector<Phase> until_now() const;

  private:
    void add(const std::string& name, double seconds);

    std::vector<Phase> done_;
    std::string name_; ///< of the one that lasts
    Clock::time_point begun_;
};

} // namespace runner
