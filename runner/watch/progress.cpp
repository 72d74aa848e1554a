// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/progress.hpp"

#include "base/text.hpp"

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
std::string left_text(double seconds) {
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

double share_of(const ProgressSnapshot& snapshot) {
    return snapshot.rows_total > 0 ? snapshot.rows_done / static_cast<double>(snapshot.rows_total)
                                   : 1.0;
}

int terminal_columns(std::FILE* to) {
    winsize size{};
    const bool known = ::ioctl(::fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

} // namespace

std::string progress_text(const ProgressSnapshot& snapshot, std::optional<double> left) {
    const double share = share_of(snapshot);
    // Rounded down: 100 % is said only of what is complete.
    std::string text = formatted("%.1f %%", std::floor(share * 1000) / 10);
    if (snapshot.seconds > 0) {
        text += "  " + rate_text(snapshot.amount_done / snapshot.seconds, snapshot.unit);
    }
    if (left && share < 1) {
        text += "  " + left_text(*left) + " left";
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

Progress::Progress(std::FILE* to, ProgressStyle style, const std::string& name)
    : to_(to), style_(style), name_(printable(name)) {}

std::string_view over_progress(std::FILE* to) {
    return progress_style(to) == ProgressStyle::redrawn ? "\r\x1b[K" : "";
}

std::optional<double> Progress::left(const ProgressSnapshot& snapshot) {
    return time_left_.update(snapshot.seconds, share_of(snapshot));
}

void Progress::draw(const ProgressSnapshot& snapshot, std::optional<double> left,
                    std::string_view end) {
    std::string line = name_ + "  " + progress_text(snapshot, left);
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
        draw(snapshot, left(snapshot), "");
    } else if (style_ == ProgressStyle::lines && snapshot.seconds >= next_line_) {
        draw(snapshot, left(snapshot), "\n");
        next_line_ = snapshot.seconds + seconds_between_lines;
    } else {
        (void)left(snapshot); // its rate is of what it has seen
    }
}

void Progress::finish(const ProgressSnapshot& snapshot) {
    if (style_ != ProgressStyle::silent) {
        draw(snapshot, std::nullopt, "\n");
    }
}

void Progress::clear() {
    if (style_ == ProgressStyle::redrawn) {
        static_cast<void>(std::fputs("\r\x1b[K", to_));
        static_cast<void>(std::fflush(to_));
    }
}

} // namespace runner
