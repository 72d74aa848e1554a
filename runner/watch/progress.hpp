// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/watch/time_left.hpp"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// How far a run is, at one moment.
struct ProgressSnapshot {
    struct Stage {
        std::string_view name;
        double busy_seconds = 0; ///< since the beginning, of one rank or of the slowest
    };
    double rows_done = 0; ///< with parts of those in work
    std::int64_t rows_total = 0;
    double amount_done = 0; ///< what the rate is of: bytes read and written, or cells
    double seconds = 0;     ///< since the beginning
    std::vector<Stage> stages;
    std::string_view unit = "B"; ///< of the amount
};

/// "42.0 %  3.21 GB/s  1:05 left  busiest: read 93 %"; parts that are not known yet are left out.
/// `left`: seconds to the end.
std::string progress_text(const ProgressSnapshot& snapshot, std::optional<double> left = {});

/// What a message that may come while a line is redrawn on `to` begins with, to take its place.
std::string_view over_progress(std::FILE* to);

enum class ProgressStyle {
    redrawn, ///< one line, drawn over itself: for a terminal
    lines,   ///< a line every ten seconds: for a log
    silent,
};

/// Redrawn where `to` is a terminal, lines where it is not.
ProgressStyle progress_style(std::FILE* to);

/// Shows a run's progress. For one thread, which calls update a few times a second; failing to
/// write is no error of the run and is passed over.
class Progress {
  public:
    static constexpr double seconds_between_lines = 10;

    /// `name`: what stands in front of every line. `to` outlives the object.
    Progress(std::FILE* to, ProgressStyle style, const std::string& name);

    void update(const ProgressSnapshot& snapshot);

    /// Shows the last state, of which no time is left, and ends the line; after it, or after an
    /// update, other messages may be written.
    void finish(const ProgressSnapshot& snapshot);

    /// Clears a redrawn line, so that a message can be written in its place.
    void clear();

  private:
    void draw(const ProgressSnapshot& snapshot, std::optional<double> left, std::string_view end);
    std::optional<double> left(const ProgressSnapshot& snapshot);

    std::FILE* to_;
    ProgressStyle style_;
    std::string name_;
    double next_line_ = seconds_between_lines;
    TimeLeft time_left_;
};

} // namespace runner
