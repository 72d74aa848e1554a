// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/timeline.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace runner {
namespace {

/// The part of a row's time that one bar more may have: so many bars fill a row.
constexpr double rows_share = 1024;

std::size_t count_rows(const std::vector<Bar>& bars) {
    std::size_t rows = 0;
    for (std::size_t i = 0; i < bars.size(); ++i) {
        rows += i == 0 || bars[i].lane != bars[i - 1].lane || bars[i].stage != bars[i - 1].stage;
    }
    return rows;
}

double last_end(const std::vector<Bar>& bars) {
    double end = 0;
    for (const Bar& bar : bars) {
        end = std::max(end, bar.end);
    }
    return end;
}

/// Both of one lane and stage; `next` starts no earlier.
void join(Bar& bar, const Bar& next) {
    bar.end = std::max(bar.end, next.end);
    bar.busy = std::min(bar.busy + next.busy, bar.end - bar.start);
    bar.events += next.events;
    bar.bytes += next.bytes;
}

} // namespace

std::vector<Bar> merge_bars(std::vector<Bar> bars, double resolution) {
    std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
        return std::tie(a.lane, a.stage, a.start) < std::tie(b.lane, b.stage, b.start);
    });
    std::vector<Bar> merged;
    for (Bar& bar : bars) {
        const bool fits = !merged.empty() && merged.back().lane == bar.lane &&
                          merged.back().stage == bar.stage &&
                          std::max(merged.back().end, bar.end) - merged.back().start <= resolution;
        if (fits) {
            join(merged.back(), bar);
        } else {
            merged.push_back(std::move(bar));
        }
    }
    return merged;
}

Timeline::Timeline(std::size_t most) : most_(most) {}

void Timeline::add(Bar bar) {
    const std::lock_guard lock(mutex_);
    if (most_ == 0) {
        return;
    }
    bars_.push_back(std::move(bar));
    if (bars_.size() <= most_) {
        return;
    }
    // Down to half, so that the sorting is paid for by as many events as it sorts.
    bars_ = merge_bars(std::move(bars_), resolution_);
    const std::size_t rows = count_rows(bars_);
    resolution_ = std::max(resolution_, last_end(bars_) / rows_share);
    while (bars_.size() > std::max(most_ / 2, rows)) {
        resolution_ *= 2;
        bars_ = merge_bars(std::move(bars_), resolution_);
    }
    most_ = std::max(most_, 2 * rows);
}

std::vector<Bar> Timeline::bars() const {
    const std::lock_guard lock(mutex_);
    return merge_bars(bars_, 0);
}

double Timeline::resolution() const {
    const std::lock_guard lock(mutex_);
    return resolution_;
}

} // namespace runner
