// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report.hpp"

#include <algorithm>

namespace runner {

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
        for (std::size_t i = 0; i < std::min(times.steps.size(), pass.steps.size()); ++i) {
            pass.steps[i].seconds = std::max(pass.steps[i].seconds, times.steps[i].seconds);
            pass.steps[i].bytes += times.steps[i].bytes;
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
