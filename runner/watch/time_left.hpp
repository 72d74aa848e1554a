// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>

namespace runner {

/// How long a run takes from now on, from how its share of the work grew lately. What it says goes
/// down as the clock does while the rate stays, and follows a new rate within half a minute.
class TimeLeft {
  public:
    /// `share` of all work, 0 to 1, is done after so many seconds; both never go down. Seconds, or
    /// nothing while there is no rate yet.
    std::optional<double> update(double seconds, double share);

  private:
    struct Sample {
        double seconds;
        double share;
    };

    std::deque<Sample> samples_; ///< of the latest time, the oldest first
    std::optional<double> left_;
    double last_ = 0;
};

} // namespace runner
