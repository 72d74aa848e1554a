// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/match/match_keys.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace runner {
namespace {

std::string list_text(const std::vector<std::int64_t>& values) {
    return toml_text(std::span<const std::int64_t>(values));
}

/// What is wrong with extents, or nothing.
using CheckExtents = std::string (*)(const std::vector<std::int64_t>&);

std::string wrong_patch(const std::vector<std::int64_t>& patch) {
    return *std::max_element(patch.begin(), patch.end()) <= Match::max_patch
               ? ""
               : fmt::format("every extent must be from 1 to {}, got {}", Match::max_patch,
                             list_text(patch));
}

std::string wrong_window(const std::vector<std::int64_t>& window) {
    constexpr double most = 4294967296.0;
    double candidates = 1;
    for (const std::int64_t extent : window) {
        if (extent % 2 == 0) {
            return "every extent must be odd, as many corners on either side of the reference, "
                   "got " +
                   list_text(window);
        }
        candidates *= static_cast<double>(extent);
    }
    return candidates < most ? "" : "has 2^32 candidates or more, got " + list_text(window);
}

/// Three extents, z, y, x.
Form<std::vector<std::int64_t>> three_extents_form(std::string range, CheckExtents check) {
    using Extents = std::vector<std::int64_t>;
    return {"three integers", std::move(range), "Sequence[int]",
            [check](TableReader& table, const std::string& key) -> std::optional<Extents> {
                std::optional<Extents> extents = table.integers(key, 1);
                if (!extents) {
                    return std::nullopt;
                }
                const std::string wrong =
                    extents->size() == 3
                        ? check(*extents)
                        : "expected three extents, along z, y and x (of an image 1 along z), got " +
                              list_text(*extents);
                if (!wrong.empty()) {
                    table.complain(key, wrong);
                    extents.reset();
                }
                return extents;
            },
            list_text};
}

void check_fit(const std::vector<std::int64_t>& patch, const Volume& volume,
               const std::string& table) {
    for (std::size_t i = 0; i < 3; ++i) {
        if (patch[i] > volume.shape[i]) {
            throw Error(ExitCode::usage,
                        {"the patch is larger than the input", table + ".patch",
                         "it is " + list_text(patch) + " and the input " +
                             toml_text(std::span<const std::int64_t>(volume.shape)),
                         volume.shape[0] == 1 && patch[0] > 1
                             ? "Write 1 along z, where the input has one layer"
                             : "Write a smaller one"});
        }
    }
}

/// An image has extent 1 along z, and so must a patch and a window in it.
void check_image(const std::vector<std::int64_t>& extents, const std::string& key,
                 const std::string& table) {
    if (extents[0] != 1) {
        std::vector<std::int64_t> flat = extents;
        flat[0] = 1;
        throw Error(ExitCode::usage,
                    {"the " + key + " does not fit an image", table + "." + key,
                     "it is " + list_text(extents) +
                         " and the input has two axes: the extent along z must be 1",
                     "Write " + key + " = " + list_text(flat)});
    }
}

/// The extents as they are given, or the usual ones.
std::vector<std::int64_t> in_effect(const std::optional<std::vector<std::int64_t>>& given,
                                    std::vector<std::int64_t> usual, bool is_image) {
    if (is_image) {
        usual[0] = 1;
    }
    return given.value_or(usual);
}

} // namespace

Form<std::vector<std::int64_t>> patch_form() {
    return three_extents_form(fmt::format("each 1 to {}", Match::max_patch), wrong_patch);
}

Form<std::vector<std::int64_t>> window_form() {
    return three_extents_form("odd, and fewer than 2³² candidates", wrong_window);
}

Form<double> threshold_form() {
    return {"number or `inf`", "0 or more", "float",
            [](TableReader& table, const std::string& key) -> std::optional<double> {
                const TableValue* value = table.value(key);
                double threshold = 0;
                if (const auto* integer = std::get_if<std::int64_t>(&value->data)) {
                    threshold = static_cast<double>(*integer);
                } else if (const auto* number = std::get_if<double>(&value->data)) {
                    threshold = *number;
                } else {
                    table.complain(key, "expected a number or inf, got " + type_name(*value));
                    return std::nullopt;
                }
                if (!(threshold >= 0)) {
                    table.complain(key, "must be 0 or more, or inf, got " + toml_text(threshold));
                    return std::nullopt;
                }
                return threshold;
            },
            [](const double& threshold) { return toml_text(threshold); }};
}

std::vector<std::int64_t> usual_window() { return {11, 11, 11}; }

std::string extents_comment(std::vector<std::int64_t> extents) {
    const std::string of_volume = list_text(extents);
    extents[0] = 1;
    return of_volume + "; for an image " + list_text(extents);
}

void fill_in(MatchKeys& keys, bool is_image) {
    keys.patch = in_effect(keys.patch, keys.usual_patch, is_image);
    keys.window = in_effect(keys.window, usual_window(), is_image);
}

float distance_limit(double value) {
    const auto nearest = static_cast<float>(value);
    return static_cast<double>(nearest) > value ? std::nextafter(nearest, 0.0F) : nearest;
}

Match make_match(const MatchKeys& given, const Volume& volume, const std::string& table) {
    MatchKeys keys = given;
    fill_in(keys, volume.is_image);
    if (volume.is_image) {
        check_image(*keys.patch, "patch", table);
        check_image(*keys.window, "window", table);
    }
    check_fit(*keys.patch, volume, table);
    Match match;
    match.volume = volume.shape;
    for (std::size_t i = 0; i < 3; ++i) {
        match.patch.at(i) = static_cast<int>((*keys.patch)[i]);
        match.window.at(i) = (*keys.window)[i];
    }
    match.count = static_cast<int>(keys.count);
    // Farther than the volume is no farther; products stay in range so.
    match.step = std::min(keys.step, *std::max_element(volume.shape.begin(), volume.shape.end()));
    match.threshold = distance_limit(keys.threshold);
    match.order = keys.order;
    match.selection = keys.selection;
    if (match.selection != MatchSelection::fast &&
        match.candidates() > Match::most_published_candidates) {
        throw Error(ExitCode::usage,
                    {"this selection holds all candidates of a reference at once",
                     table + ".selection",
                     fmt::format("the window has {} and it takes {}", match.candidates(),
                                 Match::most_published_candidates),
                     "Write selection = \"fast\", which chooses the same, or a smaller window"});
    }
    return match;
}

} // namespace runner
