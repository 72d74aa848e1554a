// SPDX-License-Identifier: BSD-3-Clause
#include "runner/progress.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace runner {
namespace {

template <class... Values> std::string formatted(const char* format, Values... values) {
    std::array<char, 128> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

/// "12 s", "3:05 min", "2:03:05 h".
std::string duration_text(double seconds) {
    const auto whole = static_cast<long long>(std::ceil(seconds));
    if (whole < 60) {
        return formatted("%lld s", whole);
    }
    if (whole < 3600) {
        return formatted("%lld:%02lld min", whole / 60, whole % 60);
    }
    return formatted("%lld:%02lld:%02lld h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string rate_text(double a_second, std::string_view unit) {
    if (unit != "B") {
        return formatted("%.3g ", a_second) + std::string(unit) + "/s";
    }
    return a_second < 1e9 ? formatted("%.0f MB/s", a_second / 1e6)
                          : formatted("%.2f GB/s", a_second / 1e9);
}

/// Seconds until the end, if the rest goes as what is done.
std::optional<double> seconds_left(const ProgressSnapshot& snapshot) {
    constexpr double longest = 1e7; // longer than any job: the first rows tell nothing yet
    const std::int64_t rows_left = snapshot.rows_total - snapshot.rows_done;
    if (snapshot.rows_done <= 0 || rows_left <= 0) {
        return std::nullopt;
    }
    const double left =
        snapshot.seconds * static_cast<double>(rows_left) / static_cast<double>(snapshot.rows_done);
    return left < longest ? std::optional(left) : std::nullopt;
}

int terminal_columns(std::FILE* to) {
    winsize size{};
    const bool known = ::ioctl(::fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

} // namespace

std::string progress_text(const ProgressSnapshot& snapshot) {
    const double share = snapshot.rows_total > 0 ? static_cast<double>(snapshot.rows_done) /
                                                       static_cast<double>(snapshot.rows_total)
                                                 : 1.0;
    // Rounded down: 100 % is said only of what is complete.
    std::string text = formatted("%.1f %%", std::floor(share * 1000) / 10);
    if (snapshot.seconds > 0) {
        text += "  " + rate_text(snapshot.amount_done / snapshot.seconds, snapshot.unit);
    }
    if (const std::optional<double> left = seconds_left(snapshot)) {
        text += "  " + duration_text(*left) + " left";
    }
    const auto busiest = std::max_element(
        snapshot.stages.begin(), snapshot.stages.end(),
        [](const auto& a, const auto& b) { return a.busy_seconds < b.busy_seconds; });
    if (busiest != snapshot.stages.end() && busiest->busy_seconds > 0 && snapshot.seconds > 0) {
        const double busy = std::min(1.0, busiest->busy_seconds / snapshot.seconds);
        text += "  busiest: " + std::string(busiest->name) + formatted(" %.0f %%", busy * 100);
    }
    return text;
}

ProgressStyle progress_style(std::FILE* to) {
    return ::isatty(::fileno(to)) == 1 ? ProgressStyle::redrawn : ProgressStyle::lines;
}

Progress::Progress(std::FILE* to, ProgressStyle style, std::string name)
    : to_(to), style_(style), name_(printable(name)) {}

void Progress::draw(const ProgressSnapshot& snapshot, std::string_view end) {
    std::string line = name_ + "  " + progress_text(snapshot);
    if (style_ == ProgressStyle::redrawn) {
        // A line that wraps could not be drawn over.
        const auto columns = static_cast<std::size_t>(terminal_columns(to_));
        line = "\r" + line.substr(0, columns - 1) + "\x1b[K";
    }
    line += end;
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), to_));
    static_cast<void>(std::fflush(to_));
}

void Progress::update(const ProgressSnapshot& snapshot) {
    if (style_ == ProgressStyle::redrawn) {
        draw(snapshot, "");
    } else if (style_ == ProgressStyle::lines && snapshot.seconds >= next_line_) {
        draw(snapshot, "\n");
        next_line_ = snapshot.seconds + seconds_between_lines;
    }
}

void Progress::finish(const ProgressSnapshot& snapshot) {
    if (style_ != ProgressStyle::silent) {
        draw(snapshot, "\n");
    }
}

void Progress::clear() {
    if (style_ == ProgressStyle::redrawn) {
        static_cast<void>(std::fputs("\r\x1b[K", to_));
        static_cast<void>(std::fflush(to_));
    }
}

} // namespace runner
