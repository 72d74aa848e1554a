// SPDX-License-Identifier: BSD-3-Clause
#include "runner/toml/toml_errors.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace runner {
namespace {

/// A person mends no more in one go, and a file of 1 MiB can hold 100,000 wrong keys.
constexpr std::size_t most_told = 20;

/// A setting as messages name it, on one line.
std::string setting_text(const std::string& setting) {
    const bool plain = setting.size() <= 200 && setting == printable(setting);
    return "--set " + (plain ? setting : quoted_text(setting));
}

} // namespace

void refuse_toml(const std::string& what, const std::string& path, const Diagnostics& diagnostics,
                 std::span<const std::string> settings, std::span<const std::string> called) {
    std::vector<Diagnostics::Entry> entries = diagnostics.entries();
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::tie(a.place.setting, a.place.line, a.place.column) <
               std::tie(b.place.setting, b.place.line, b.place.column);
    });
    const std::string name = printable(path);
    std::string text = fmt::format("{} ({}): {}{}", what, name, entries.size(),
                                   (entries.size() == 1 ? " error" : " errors"));
    for (std::size_t i = 0; i < std::min(entries.size(), most_told); ++i) {
        const auto& [place, wrong] = entries[i];
        const auto setting = static_cast<std::size_t>(std::max(place.setting, 1) - 1);
        if (place.setting == 0) {
            text += fmt::format("\n{}:{}:{}", name, place.line, place.column);
        } else {
            text +=
                "\n" + (called.empty() || called[setting].empty() ? setting_text(settings[setting])
                                                                  : called[setting]);
        }
        text += ": " + printable(wrong);
    }
    if (entries.size() > most_told) {
        text += fmt::format("\nand {} more", entries.size() - most_told);
    }
    throw Error(ExitCode::usage, {text, "", "", ""});
}

} // namespace runner
