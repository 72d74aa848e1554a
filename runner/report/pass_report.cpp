// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report.hpp"

#include <algorithm>

namespace runner {
namespace {

void add_stages(const RankReport& rank, PassReport& pass) {
    for (std::size_t i = 0; i < stage_count; ++i) {
        const StageTimes& one = rank.times.stages[i];
        StageTimes& all = pass.stages.at(i);
        all.busy_seconds = std::max(all.busy_seconds, one.busy_seconds);
        all.wait_seconds = std::max(all.wait_seconds, one.wait_seconds);
        all.bytes += one.bytes;
    }
}

} // namespace

PassReport pass_report(std::size_t number, const JobFile& job, const JobPlan& plan,
                       const std::vector<RankReport>& ranks) {
    PassReport pass;
    pass.number = number;
    pass.file = job.output.file;
    pass.dataset = job.output.dataset;
    pass.bytes_read = plan.bytes_to_read();
    pass.bytes_written = plan.bytes_to_write();
    pass.bottleneck = find_bottleneck(ranks);
    for (const StepParameters& step : job.pipeline->steps()) {
        pass.steps.push_back({step.label, 0, 0});
    }
    for (const RankReport& rank : ranks) {
        const RunTimes& times = rank.times;
        pass.stream_seconds = std::max(pass.stream_seconds, times.wall_seconds);
        add_stages(rank, pass);
        if (!rank.bars.empty()) {
            pass.timelines.push_back({rank.rank, rank.merged_below_seconds, rank.bars});
        }
        // A first step that is the order in which rows are read computes nothing.
        const std::size_t timed = std::min(times.steps.size(), pass.steps.size());
        for (std::size_t i = 0; i < timed; ++i) {
            StepReport& step = pass.steps[pass.steps.size() - timed + i];
            step.seconds = std::max(step.seconds, times.steps[i].seconds);
            step.bytes += times.steps[i].bytes;
        }
        if (times.steps.empty() && pass.steps.size() == 1) {
            StepReport& only = pass.steps.front();
            only.seconds = std::max(only.seconds, times[Stage::compute].busy_seconds);
            only.bytes = pass.bytes_read + pass.bytes_written;
        }
    }
    return pass;
}

const StepReport* bounding_step(const std::vector<PassReport>& passes) {
    const StepReport* longest = nullptr;
    for (const PassReport& pass : passes) {
        for (const StepReport& step : pass.steps) {
            if (longest == nullptr || step.seconds > longest->seconds) {
                longest = &step;
            }
        }
    }
    return longest;
}

} // namespace runner
