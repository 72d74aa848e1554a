// SPDX-License-Identifier: BSD-3-Clause
#include "base/durations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace runner {
namespace {

constexpr double minute = 60;
constexpr double hour = 60 * minute;
constexpr double day = 24 * hour;
constexpr double longest = 10 * 365 * day;

std::optional<double> in_range(double seconds) {
    return seconds >= 0 && seconds <= longest ? std::optional(seconds) : std::nullopt;
}

/// A whole number of a clock's text, and what stands after it.
std::optional<double> take_number(std::string_view& text) {
    unsigned long number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc()) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return static_cast<double>(number);
}

/// "[days-]hours:minutes:seconds" or "minutes:seconds".
std::optional<double> parse_clock(std::string_view text) {
    double days = 0;
    if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
        std::string_view front = text.substr(0, dash);
        const std::optional<double> number = take_number(front);
        if (!number || !front.empty()) {
            return std::nullopt;
        }
        days = *number;
        text.remove_prefix(dash + 1);
    }
    double seconds = 0;
    int parts = 0;
    for (;; ++parts) {
        const std::optional<double> number = take_number(text);
        if (!number || (parts > 0 && *number >= minute)) {
            return std::nullopt;
        }
        seconds = seconds * minute + *number;
        if (text.empty()) {
            break;
        }
        if (text.front() != ':' || parts == 2) {
            return std::nullopt;
        }
        text.remove_prefix(1);
    }
    if (parts == 0 || (days > 0 && parts < 2)) {
        return std::nullopt;
    }
    return in_range(days * day + seconds);
}

void skip_spaces(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

/// The seconds of a number and its unit, in front of the text, and what stands after it.
std::optional<double> take_part(std::string_view& text, bool has_unit) {
    double number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || !std::isfinite(number) || number < 0) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!has_unit) {
        return text.empty() ? std::optional(number) : std::nullopt;
    }
    skip_spaces(text);
    static constexpr std::array<std::pair<std::string_view, double>, 5> units = {
        {{"s", 1}, {"min", minute}, {"m", minute}, {"h", hour}, {"d", day}}};
    for (const auto& [name, seconds] : units) {
        if (text.starts_with(name)) {
            text.remove_prefix(name.size());
            skip_spaces(text);
            return number * seconds;
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<double> parse_duration(std::string_view text) {
    if (text.find(':') != std::string_view::npos) {
        return parse_clock(text);
    }
    const bool has_unit = text.find_first_of("smhd") != std::string_view::npos;
    double sum = 0;
    do {
        const std::optional<double> part = take_part(text, has_unit);
        if (!part) {
            return std::nullopt;
        }
        sum += *part;
    } while (!text.empty());
    return in_range(sum);
}

std::string duration_text(double seconds) {
    std::array<char, 64> text{};
    if (seconds < minute) {
        (void)std::snprintf(text.data(), text.size(), "%.3g s", seconds);
    } else if (seconds < hour) {
        (void)std::snprintf(text.data(), text.size(), "%.0f min %.0f s",
                            std::floor(seconds / minute), std::floor(std::fmod(seconds, minute)));
    } else {
        (void)std::snprintf(text.data(), text.size(), "%.0f h %.0f min", std::floor(seconds / hour),
                            std::floor(std::fmod(seconds, hour) / minute));
    }
    return text.data();
}

} // namespace runner
