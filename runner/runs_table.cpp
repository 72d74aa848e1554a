// SPDX-License-Identifier: BSD-3-Clause
#include "base/sizes.hpp"
#include "runner/html.hpp"
#include "runner/page_timeline.hpp"
#include "runner/run_summary.hpp"

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

std::string settings_text(const RunSummary& run) {
    std::string text;
    for (const std::string& setting : run.settings) {
        text += (text.empty() ? "" : "  ") + setting;
    }
    return text;
}

/// The part of the widest bar's width, as a percentage.
std::string width_percent(double part, double whole) {
    return decimal_text(whole > 0 ? 100 * part / whole : 0, 2);
}

std::string stack_html(const RunSummary& run, double longest) {
    const auto piece = [&](const char* name, double seconds, const std::string& what) {
        return std::string("<i class=\"") + name +
               "\" style=\"width:" + width_percent(seconds, longest) + "%\" title=\"" +
               html_text(what) + ": " + short_time_text(seconds) + "\"></i>";
    };
    return "<div class=\"stack\"><span>" + html_text(run.file) + "</span><b>" +
           piece("hash", run.start_seconds, "before the first read") +
           piece("compute", run.stream_seconds, "first read to last write") +
           piece("upload", std::max(0.0, run.wall_seconds - run.start_seconds - run.stream_seconds),
                 "after the last write") +
           "</b><span>" + short_time_text(run.wall_seconds) + "</span></div>\n";
}

std::string busy_html(std::span<const RunSummary> runs) {
    double longest = 0;
    for (const RunSummary& run : runs) {
        longest =
            std::max(longest, *std::max_element(run.busy_seconds.begin(), run.busy_seconds.end()));
    }
    std::string text;
    for (std::size_t i = 0; i < stage_count; ++i) {
        const auto is_idle = [i](const RunSummary& run) { return run.busy_seconds[i] == 0; };
        if (std::all_of(runs.begin(), runs.end(), is_idle)) {
            continue;
        }
        text += "<h3>" + stage_label(static_cast<Stage>(i)) + "</h3>\n";
        for (const RunSummary& run : runs) {
            text += "<div class=\"stack\"><span>" + html_text(run.file) + "</span><b><i class=\"" +
                    std::string(stage_names[i]) +
                    "\" style=\"width:" + width_percent(run.busy_seconds[i], longest) +
                    "%\"></i></b><span>" + short_time_text(run.busy_seconds[i]) + "</span></div>\n";
        }
    }
    return text;
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

std::string runs_page(std::span<const RunSummary> runs) {
    std::vector<Cells> rows = {heads};
    double longest = 0;
    for (const RunSummary& run : runs) {
        Cells cells = cells_of(run, runs.front());
        for (std::string& cell : cells) {
            cell = html_text(cell);
        }
        rows.push_back(std::move(cells));
        longest = std::max(longest, run.wall_seconds);
    }
    std::string times;
    std::vector<std::pair<std::string, std::string>> settings;
    for (const RunSummary& run : runs) {
        times += stack_html(run, longest);
        settings.emplace_back(html_text(run.file),
                              html_text(run.started + ", runner " + run.version +
                                        (run.settings.empty() ? "" : ", ") + settings_text(run)));
    }
    return html_page(
        "Runs compared – runner",
        "<main>\n<header>\n<h1>Runs compared</h1>\n<p class=\"sub\">" +
            std::to_string(runs.size()) +
            " runs, their times over that of the first</p>\n</header>\n"
            "<section>\n<h2>Runs</h2>\n" +
            html_table(rows) +
            "</section>\n"
            "<section>\n<h2>Time in all</h2>\n<p class=\"legend\"><span><i "
            "class=\"hash\"></i>before "
            "the first read</span><span><i class=\"compute\"></i>first read to last write</span>"
            "<span><i class=\"upload\"></i>after the last write</span></p>\n" +
            times + "</section>\n<section>\n<h2>Busy, on the rank where most</h2>\n" +
            busy_html(runs) + "</section>\n<section>\n<h2>Settings</h2>\n" + html_facts(settings) +
            "</section>\n</main>\n");
}

} // namespace runner
