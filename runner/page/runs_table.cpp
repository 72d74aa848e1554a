// SPDX-License-Identifier: BSD-3-Clause
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/page/report_numbers.hpp"
#include "runner/page/run_summary.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace runner {
namespace {

using Cells = std::vector<std::string>;

std::string percent_text(double share) { return decimal_text(100 * share, 0) + " %"; }

std::string rate_of(const RunSummary& run) {
    return run.wall_seconds > 0 ? rate_text(static_cast<double>(run.bytes) / run.wall_seconds) : "";
}

/// What a run's time is of the first one's.
std::string over_first(const RunSummary& run, const RunSummary& first) {
    return first.wall_seconds > 0 ? decimal_text(run.wall_seconds / first.wall_seconds, 3) + " x"
                                  : "";
}

/// What all columns are called, and what a run has in them.
const Cells heads = {"run",          "job",           "kind",         "devices",
                     "hosts",        "ranks",         "chunk rows",   "lanes",
                     "I/O",          "in all",        "of the first", "engine",
                     "read+written", "slowest stage", "host memory",  "device memory"};

/// Columns of what a run was, not of what it took.
constexpr std::size_t first_told = 1;
constexpr std::size_t last_told = 8;

Cells cells_of(const RunSummary& run, const RunSummary& first) {
    return {run.file,
            run.name,
            run.kind,
            run.devices,
            run.hosts,
            std::to_string(run.ranks),
            std::to_string(run.chunk_rows),
            std::to_string(run.lanes),
            std::to_string(run.io_threads),
            short_time_text(run.wall_seconds),
            over_first(run, first),
            short_time_text(run.stream_seconds),
            rate_of(run),
            run.bottleneck + " " + percent_text(run.overlap_efficiency),
            size_text(run.host_bytes),
            size_text(run.device_bytes)};
}

/// Characters, of which those beyond ASCII take several bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

/// Takes the columns out in which all runs have the same, but for what was measured; a line that
/// tells of these.
std::string take_out_same(std::vector<Cells>& rows) {
    std::string text;
    for (std::size_t column = last_told; column >= first_told; --column) {
        const std::string& value = rows[1][column];
        const auto is_same = [&](const Cells& row) { return row[column] == value; };
        if (!std::all_of(rows.begin() + 1, rows.end(), is_same)) {
            continue;
        }
        text.insert(0, "  " + heads[column] + " " + value);
        for (Cells& row : rows) {
            row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
        }
    }
    return text.empty() ? "" : "the same in all:" + text + "\n";
}

} // namespace

std::string runs_text(std::span<const RunSummary> runs) {
    std::vector<Cells> rows = {heads};
    for (const RunSummary& run : runs) {
        rows.push_back(cells_of(run, runs.front()));
        for (std::string& cell : rows.back()) {
            cell = printable(cell);
        }
    }
    const std::string same = take_out_same(rows);
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const Cells& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    }
    std::string text;
    for (const Cells& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool last = i + 1 == row.size();
            text += row[i] + (last ? "\n" : std::string(widths[i] - width_of(row[i]) + 2, ' '));
        }
    }
    return text + same;
}

} // namespace runner
