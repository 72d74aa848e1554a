// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/report_numbers.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <span>

namespace runner {
namespace {

/// With the unit that leaves one to three digits before the point.
std::string three_digits(double value, std::span<const char* const> units) {
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return decimal_text(value, digits) + " " + units[unit];
}

} // namespace

std::string decimal_text(double value, int digits) {
    std::array<char, 400> buffer{};
    (void)std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
    std::string text = buffer.data();
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') {
            text.pop_back();
        }
    }
    return text == "-0" ? "0" : text;
}

std::string rate_text(double bytes_per_second) {
    static constexpr std::array units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    return three_digits(bytes_per_second, units);
}

std::string short_time_text(double seconds) {
    static constexpr std::array units = {"µs", "ms", "s"};
    if (seconds >= 999.5) {
        const long long whole = std::llround(seconds);
        std::array<char, 48> text{};
        (void)std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld h", whole / 3600,
                            whole / 60 % 60, whole % 60);
        return text.data();
    }
    return three_digits(seconds * 1e6, units);
}

} // namespace runner
