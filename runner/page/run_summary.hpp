// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/stages.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// What of a report tells one run from another. Numbers that a report does not have are 0.
struct RunSummary {
    std::string file;
    std::string name;
    std::string kind;
    std::string version;
    std::string backend;
    std::string started;
    std::string hosts;   ///< "n0, n1", or "n0 and 7 more"
    std::string devices; ///< likewise, each name once
    std::vector<std::string> settings;
    int ranks = 0;
    std::int64_t chunk_rows = 0;
    int lanes = 0;
    int io_threads = 0;
    double wall_seconds = 0;
    double start_seconds = 0;
    double stream_seconds = 0; ///< of the rank that took longest
    double finish_seconds = 0;
    std::int64_t bytes = 0; ///< read and written by all ranks
    std::int64_t generations = 0;
    std::string bottleneck;                         ///< a stage's name
    double overlap_efficiency = 0;                  ///< 0 … 1
    std::array<double, stage_count> busy_seconds{}; ///< of the rank where it is most
    std::int64_t host_bytes = 0;                    ///< that a process grew by, at most
    std::int64_t device_bytes = 0;                  ///< that a rank took, at most
};

/// The summary of a report's text. `file` names it. @throws Error (input) for a text that is no
/// report.
RunSummary summarise_report(const std::string& file, const std::string& text);

/// A table for a terminal, a line a run, each run's time over the first one's.
std::string runs_text(std::span<const RunSummary> runs);

/// The same as JSON: an array of objects.
std::string runs_json(std::span<const RunSummary> runs);

/// A page for a browser that draws runs_json(): a table, and the runs' times and stages as bars.
std::string runs_page(std::span<const RunSummary> runs);

} // namespace runner
