// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "runner/report/report.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <variant>

namespace runner {
namespace {

std::string moved_text(std::int64_t bytes, double seconds) {
    std::array<char, 80> text{};
    (void)std::snprintf(text.data(), text.size(), "%s read and written in %.2f s, %.2f GB/s",
                        size_text(bytes).c_str(), seconds,
                        1e-9 * static_cast<double>(bytes) / seconds);
    return text.data();
}

std::string work_text(const Plan& plan, const RunReport& report) {
    return moved_text(plan.bytes_to_read() + plan.bytes_to_write(), report.wall_seconds);
}

std::string work_text(const PermutePlan& plan, const RunReport& report) {
    return moved_text(2 * (plan.total_rows() - report.rows_before) * plan.grid.output()[2] *
                          plan.shape.element_bytes,
                      report.wall_seconds);
}

std::string work_text(const EvolvePlan& plan, const RunReport& report) {
    const std::int64_t generations = report.ranks.front().times.generations;
    std::array<char, 120> text{};
    (void)std::snprintf(text.data(), text.size(),
                        "%lld generations of %lld cells in %.2f s, %.3g cells/s",
                        static_cast<long long>(generations),
                        static_cast<long long>(plan.shape.cells), report.wall_seconds,
                        static_cast<double>(generations) * static_cast<double>(plan.shape.cells) /
                            report.wall_seconds);
    return text.data();
}

} // namespace

std::string closing_line(const RunReport& report) {
    const Bottleneck bottleneck = find_bottleneck(report.ranks);
    std::array<char, 160> text{};
    (void)std::snprintf(
        text.data(), text.size(), "%s; slowest stage %s, %.0f %% of the engine's time\n",
        std::visit([&](const auto& plan) { return work_text(plan, report); }, report.plan).c_str(),
        stage_names[static_cast<std::size_t>(bottleneck.stage)].data(),
        100 * bottleneck.overlap_efficiency);
    return printable(report.job.output.file) + ": " + text.data();
}

} // namespace runner
