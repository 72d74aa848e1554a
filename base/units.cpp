// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace runner {
namespace {

/// The usual names of a unit, and how large it is.
struct UnitNames {
    std::string_view names; ///< with a space before and behind each
    double size;
};

std::optional<double> size_of(std::string_view unit, std::span<const UnitNames> units) {
    if (unit.empty() || unit.find(' ') != std::string_view::npos) {
        return std::nullopt;
    }
    const std::string word = " " + std::string(unit) + " ";
    const auto found = std::find_if(units.begin(), units.end(), [&](const UnitNames& each) {
        return each.names.find(word) != std::string_view::npos;
    });
    return found == units.end() ? std::nullopt : std::optional(found->size);
}

struct SiPrefix {
    std::string_view name;
    double size;
};

constexpr std::array si_prefixes = {
    SiPrefix{"yocto", 1e-24}, SiPrefix{"zepto", 1e-21}, SiPrefix{"atto", 1e-18},
    SiPrefix{"femto", 1e-15}, SiPrefix{"pico", 1e-12},  SiPrefix{"nano", 1e-9},
    SiPrefix{"micro", 1e-6},  SiPrefix{"milli", 1e-3},  SiPrefix{"centi", 1e-2},
    SiPrefix{"deci", 1e-1},   SiPrefix{"hecto", 1e2},   SiPrefix{"kilo", 1e3},
    SiPrefix{"mega", 1e6},    SiPrefix{"giga", 1e9},    SiPrefix{"tera", 1e12},
    SiPrefix{"peta", 1e15},   SiPrefix{"exa", 1e18},    SiPrefix{"zetta", 1e21},
    SiPrefix{"yotta", 1e24}};

/// A unit of one of these names behind a prefix of the SI.
std::optional<double> prefixed(std::string_view unit,
                               std::initializer_list<std::string_view> endings) {
    for (const std::string_view ending : endings) {
        if (unit.ends_with(ending)) {
            const std::string_view word = unit.substr(0, unit.size() - ending.size());
            const auto* const found =
                std::find_if(si_prefixes.begin(), si_prefixes.end(),
                             [&](const SiPrefix& each) { return each.name == word; });
            return found == si_prefixes.end() ? std::nullopt : std::optional(found->size);
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<double> metres_in(std::string_view unit) {
    static constexpr std::array lengths = {
        UnitNames{" cm ", 1e-2},
        UnitNames{" mm ", 1e-3},
        UnitNames{" um µm μm micron microns ", 1e-6},
        UnitNames{" nm ", 1e-9},
        UnitNames{" angstrom angstroms Angstrom Angstroms Å A ", 1e-10},
        UnitNames{" inch inches in ", 0.0254},
        UnitNames{" foot feet ft ", 0.3048},
        UnitNames{" yard yards ", 0.9144},
        UnitNames{" mile miles ", 1609.344},
        UnitNames{" parsec parsecs ", 3.0856775814913673e16},
        UnitNames{" pm ", 1e-12},
        UnitNames{" km ", 1e3},
        UnitNames{" m metre metres meter meters ", 1},
    };
    const std::optional<double> size = size_of(unit, lengths);
    return size ? size : prefixed(unit, {"metre", "metres", "meter", "meters"});
}

std::optional<double> seconds_in(std::string_view unit) {
    static constexpr std::array times = {
        UnitNames{" s sec secs second seconds ", 1},
        UnitNames{" ms msec msecs ", 1e-3},
        UnitNames{" us µs μs usec usecs ", 1e-6},
        UnitNames{" ns nsec nsecs ", 1e-9},
        UnitNames{" min mins minute minutes ", 60},
        UnitNames{" h hr hrs hour hours ", 3600},
        UnitNames{" d day days ", 86400},
    };
    const std::optional<double> size = size_of(unit, times);
    return size ? size : prefixed(unit, {"second", "seconds"});
}

} // namespace runner
