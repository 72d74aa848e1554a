// SPDX-License-Identifier: BSD-3-Clause
#include "base/sizes.hpp"

#include "base/format.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace runner {

std::int64_t MemorySize::of(std::int64_t available) const {
    if (fraction == 0) {
        return bytes;
    }
    return static_cast<std::int64_t>(fraction * static_cast<double>(available));
}

std::optional<MemorySize> parse_memory_size(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, double>, 9> units = {{{"B", 1.0},
                                                                                  {"kB", 1e3},
                                                                                  {"MB", 1e6},
                                                                                  {"GB", 1e9},
                                                                                  {"TB", 1e12},
                                                                                  {"KiB", 0x1p10},
                                                                                  {"MiB", 0x1p20},
                                                                                  {"GiB", 0x1p30},
                                                                                  {"TiB", 0x1p40}}};
    double number = 0;
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (failure != std::errc{} || !(number > 0)) {
        return std::nullopt;
    }
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (unit.starts_with(' ')) {
        unit.remove_prefix(1);
    }
    if (unit == "%") {
        return number <= 100 ? std::optional(MemorySize{0, number / 100}) : std::nullopt;
    }
    for (const auto& [name, factor] : units) {
        if (unit == name && number * factor < 0x1p63 && number * factor >= 1) {
            return MemorySize{static_cast<std::int64_t>(number * factor), 0};
        }
    }
    return std::nullopt;
}

std::string size_text(std::int64_t bytes) {
    static constexpr std::array<const char*, 7> units = {"B",   "KiB", "MiB", "GiB",
                                                         "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (std::abs(value) >= 1024) { // 64 bits end at 8 EiB
        value /= 1024;
        ++unit;
    }
    std::array<char, 32> text{};
    const int digits = unit == 0 ? 0 : (value < 10 ? 2 : (value < 100 ? 1 : 0));
    std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, units[unit]);
    return text.data();
}

std::string enough_text(std::int64_t bytes) {
    constexpr std::int64_t small = 16 * MiB; // in KiB
    const std::int64_t unit = bytes < small ? KiB : MiB;
    return fmt::format("{}{}", bytes / unit + (bytes % unit == 0 ? 0 : 1),
                       (unit == KiB ? "KiB" : "MiB"));
}

} // namespace runner
