// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/stages.hpp"

#include "base/format.hpp"

#include <algorithm>

namespace runner {

std::string standing_text(const RunProgress& progress) {
    if (progress.surveying) {
        return fmt::format("the survey of the input, after {} rows", progress.surveyed_rows);
    }
    std::string text;
    for (const Stage stage : {Stage::read, Stage::compute, Stage::hash, Stage::write}) {
        const auto index = static_cast<std::size_t>(stage);
        const std::int64_t begun = progress.begun[index];
        text += std::string(text.empty() ? "" : ", ") + std::string(stage_names[index]) +
                (begun == 0 ? " not begun" : fmt::format(" at {} {}", progress.unit, begun - 1));
    }
    return text;
}

double RunProgress::rows_in_work(InFlight::Clock::time_point now) const {
    constexpr double most = 0.999;
    double rows = static_cast<double>(rows_done);
    for (const ChunkInFlight& chunk : in_flight.chunks(now)) {
        rows += std::min(chunk.share, most) * static_cast<double>(chunk.rows);
    }
    return rows;
}

} // namespace runner
