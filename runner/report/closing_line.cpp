// SPDX-License-Identifier: BSD-3-Clause
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/page/report_numbers.hpp"
#include "runner/report/report.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace runner {
namespace {

std::string moved_text(std::int64_t bytes, double seconds) {
    std::array<char, 80> text{};
    (void)std::snprintf(text.data(), text.size(), "%s read and written in %.2f s, %s",
                        size_text(bytes).c_str(), seconds,
                        rate_text(static_cast<double>(bytes) / seconds).c_str());
    return text.data();
}

std::string updates_text(std::int64_t generations, std::int64_t cells, double seconds) {
    std::array<char, 120> text{};
    (void)std::snprintf(text.data(), text.size(),
                        "%lld generations of %lld cells in %.2f s, %.3g cells/s",
                        static_cast<long long>(generations), static_cast<long long>(cells), seconds,
                        static_cast<double>(generations) * static_cast<double>(cells) / seconds);
    return text.data();
}

std::string work_text(const RunReport& report) {
    const JobPlan& plan = report.plan;
    if (plan.cells() > 0) {
        return updates_text(report.ranks.front().times.generations, plan.cells(),
                            report.wall_seconds);
    }
    std::int64_t bytes = plan.bytes_to_read() + plan.bytes_to_write();
    if (!report.passes.empty()) {
        bytes = 0;
        for (const PassReport& pass : report.passes) {
            bytes += pass.bytes_read + pass.bytes_written;
        }
    }
    return moved_text(bytes, report.wall_seconds);
}

} // namespace

std::string closing_line(const RunReport& report) {
    const Bottleneck bottleneck = find_bottleneck(report.ranks);
    std::array<char, 160> text{};
    (void)std::snprintf(
        text.data(), text.size(), "%s; slowest stage %s, %.0f %% of the engine's time\n",
        work_text(report).c_str(), stage_names[static_cast<std::size_t>(bottleneck.stage)].data(),
        100 * bottleneck.overlap_efficiency);
    return printable(report.job.output.file) + ": " + text.data();
}

} // namespace runner
