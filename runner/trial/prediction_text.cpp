// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/prediction_text.hpp"

#include "base/format.hpp"
#include "runner/page/report_numbers.hpp"

#include <algorithm>
#include <cstddef>

namespace runner {

std::string bound_text(const Prediction& prediction) {
    const auto longest =
        std::max_element(prediction.passes.begin(), prediction.passes.end(),
                         [](const auto& a, const auto& b) { return a.seconds() < b.seconds(); });
    return std::string(stage_names.at(static_cast<std::size_t>(longest->bound))) +
           (prediction.passes.size() > 1
                ? fmt::format(" in pass {}", longest - prediction.passes.begin() + 1)
                : "");
}

std::vector<std::string> prediction_lines(const Prediction& prediction) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < prediction.passes.size(); ++i) {
        const PassPrediction& pass = prediction.passes[i];
        std::string line = prediction.passes.size() > 1 ? fmt::format("pass {}: ", i + 1) : "";
        for (std::size_t stage = 0; stage < stage_count; ++stage) {
            if (pass.busy_seconds.at(stage) > 0) {
                line += fmt::format("{} {}, ", stage_names.at(stage),
                                    short_time_text(pass.busy_seconds.at(stage)));
            }
        }
        lines.push_back(line + "at the same time; " +
                        std::string(stage_names.at(static_cast<std::size_t>(pass.bound))) +
                        " takes longest and waits " + short_time_text(pass.idle_seconds));
    }
    lines.push_back("start " + short_time_text(prediction.start_seconds) + ", end " +
                    short_time_text(prediction.finish_seconds));
    return lines;
}

} // namespace runner
