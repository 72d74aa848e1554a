// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/timeline.hpp"

#include <string>
#include <vector>

namespace runner {

/// One rank's timeline, to be shown.
struct RankTimeline {
    int rank = 0;
    std::string title;     ///< "rank 0 on node7, NVIDIA H200"
    std::vector<Bar> bars; ///< by lane, stage and start
};

/// What a person calls a stage: "host to device".
std::string stage_label(Stage stage);

/// The timelines as HTML: one SVG a rank, in which a bar is a `rect` with its times in milliseconds
/// for `x` and `width`, in a `g` with `data-rank`, `data-stage` and `data-lane`; all to the scale
/// of the longest.
std::string timeline_html(const std::vector<RankTimeline>& ranks);

/// Bytes a second of one stage over all ranks, from 0 to `end` seconds in as many equal steps.
/// What a bar moved counts evenly over its time.
std::vector<double> throughput(const std::vector<RankTimeline>& ranks, Stage stage, double end,
                               std::size_t steps);

/// Reading's and writing's throughput over the time of the timelines, as HTML with SVG.
std::string throughput_html(const std::vector<RankTimeline>& ranks);

/// The last end of any bar, seconds.
double end_of(const std::vector<RankTimeline>& ranks);

} // namespace runner
