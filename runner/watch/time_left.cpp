// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/time_left.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace runner {
namespace {

constexpr double first_seconds = 1; ///< before, the rate is chance
constexpr double between_samples = 0.5;
constexpr double least_window = 30;
constexpr double smoothing_seconds = 10;
constexpr double longest = 1e7; ///< longer than any job

} // namespace

std::optional<double> TimeLeft::update(double seconds, double share) {
    if (samples_.empty() || seconds - samples_.back().seconds >= between_samples) {
        samples_.push_back({seconds, share});
    }
    // Half of the run so far: where chunks come in one by one and count nothing within, fewer
    // seconds hold too few of them.
    const double window = std::max(least_window, seconds / 2);
    while (samples_.size() > 1 && samples_[1].seconds <= seconds - window) {
        samples_.pop_front();
    }
    const Sample& from = samples_.front();
    const double grown = share - from.share;
    const double since = std::exchange(last_, seconds);
    if (grown <= 0 || seconds - from.seconds < first_seconds) {
        if (left_) { // nothing new: the clock runs
            left_ = std::max(0.0, *left_ - (seconds - since));
        }
        return left_;
    }
    const double left = (1 - share) * (seconds - from.seconds) / grown;
    if (!left_) {
        left_ = left < longest ? std::optional(left) : std::nullopt;
        return left_;
    }
    const double expected = *left_ - (seconds - since);
    const double weight = 1 - std::exp(-(seconds - since) / smoothing_seconds);
    left_ = std::clamp(expected + (left - expected) * weight, 0.0, longest);
    return left_;
}

} // namespace runner
