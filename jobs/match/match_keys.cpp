// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/match/match_keys.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace runner {
namespace {

constexpr std::array order_names = {"ascending", "descending"};
constexpr std::array orders = {MatchOrder::nearest_first, MatchOrder::nearest_last};
constexpr std::array selection_names = {"fast", "serial", "min_and_swap"};
constexpr std::array selections = {MatchSelection::fast, MatchSelection::serial,
                                   MatchSelection::min_and_swap};

std::string list_text(const std::vector<std::int64_t>& values) {
    return toml_text(std::span<const std::int64_t>(values));
}

/// Three extents, z, y, x; `otherwise` where the key is not there or wrong.
std::vector<std::int64_t> parse_extents(TableReader& table, std::string_view key,
                                        const std::vector<std::int64_t>& otherwise) {
    if (!table.has(key)) {
        return otherwise;
    }
    const std::optional<std::vector<std::int64_t>> extents = table.integers(key, 1);
    if (!extents) {
        return otherwise;
    }
    if (extents->size() != 3) {
        table.complain(key, "expected three extents, along z, y and x (of an image 1 along z), "
                            "got " +
                                list_text(*extents));
        return otherwise;
    }
    return *extents;
}

void check_patch(TableReader& table, const std::vector<std::int64_t>& patch) {
    for (const std::int64_t extent : patch) {
        if (extent > Match::max_patch) {
            return table.complain("patch", fmt::format("every extent must be from 1 to {}, got {}",
                                                       Match::max_patch, list_text(patch)));
        }
    }
}

void check_window(TableReader& table, const std::vector<std::int64_t>& window) {
    constexpr double most = 4294967296.0;
    double candidates = 1;
    for (const std::int64_t extent : window) {
        if (extent % 2 == 0) {
            return table.complain("window", "every extent must be odd, as many corners on either "
                                            "side of the reference, got " +
                                                list_text(window));
        }
        candidates *= static_cast<double>(extent);
    }
    if (candidates >= most) {
        table.complain("window", "has 2^32 candidates or more, got " + list_text(window));
    }
}

double parse_threshold(TableReader& table) {
    constexpr double none = std::numeric_limits<double>::infinity();
    const TableValue* value = table.value("threshold");
    if (value == nullptr) {
        return none;
    }
    double threshold = none;
    if (const auto* integer = std::get_if<std::int64_t>(&value->data)) {
        threshold = static_cast<double>(*integer);
    } else if (const auto* number = std::get_if<double>(&value->data)) {
        threshold = *number;
    } else {
        table.complain("threshold", "expected a number or inf, got " + type_name(*value));
    }
    if (!(threshold >= 0)) {
        table.complain("threshold", "must be 0 or more, or inf, got " + toml_text(threshold));
    }
    return threshold;
}

template <std::size_t n>
std::size_t parse_choice(TableReader& table, std::string_view key,
                         const std::array<const char*, n>& names) {
    return table.choice(key, {names.begin(), names.end()}).value_or(0);
}

/// Keys that say which candidates are taken, where all are.
void check_all(TableReader& table, const MatchKeys& keys) {
    const std::string none = " takes every candidate of every patch; leave it out";
    if (keys.step != 1) {
        table.complain("step", "count = \"all\"" + none);
    }
    if (keys.threshold != std::numeric_limits<double>::infinity()) {
        table.complain("threshold", "count = \"all\"" + none);
    }
    if (keys.selection != MatchSelection::fast) {
        table.complain("selection", "count = \"all\"" + none);
    }
}

/// The greatest float32 that is no more.
float rounded_down(double value) {
    const auto nearest = static_cast<float>(value);
    return static_cast<double>(nearest) > value ? std::nextafter(nearest, 0.0F) : nearest;
}

void check_fit(const MatchKeys& keys, const Volume& volume, const std::string& table) {
    for (std::size_t i = 0; i < 3; ++i) {
        if (keys.patch[i] > volume.shape[i]) {
            throw Error(ExitCode::usage,
                        {"the patch is larger than the input", table + ".patch",
                         "it is " + list_text(keys.patch) + " and the input " +
                             toml_text(std::span<const std::int64_t>(volume.shape)),
                         volume.shape[0] == 1 && keys.patch[0] > 1
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

/// A key that the job file does not set is a comment, since its value depends on the input's axes.
std::string extents_text(const std::string& key, std::vector<std::int64_t> extents, bool is_set) {
    if (is_set) {
        return key + " = " + list_text(extents) + "\n";
    }
    const std::string of_volume = list_text(extents);
    extents[0] = 1;
    return "# " + key + ": " + of_volume + "; for an image " + list_text(extents) + "\n";
}

void fill_in(MatchKeys& keys, bool is_image) {
    if (is_image && !keys.has_patch) {
        keys.patch[0] = 1;
    }
    if (is_image && !keys.has_window) {
        keys.window[0] = 1;
    }
    keys.has_patch = true;
    keys.has_window = true;
}

} // namespace

MatchKeys parse_match_keys(TableReader& table, MatchKeys keys) {
    keys.has_patch = table.has("patch");
    keys.has_window = table.has("window");
    keys.patch = parse_extents(table, "patch", keys.patch);
    check_patch(table, keys.patch);
    keys.window = parse_extents(table, "window", keys.window);
    check_window(table, keys.window);
    if (!keys.has_all) {
        keys.count = table.integer("count", 1, Match::max_count).value_or(keys.count);
    }
    keys.step = table.integer("step", 1).value_or(keys.step);
    keys.threshold = parse_threshold(table);
    keys.order = orders.at(parse_choice(table, "order", order_names));
    keys.selection = selections.at(parse_choice(table, "selection", selection_names));
    if (keys.has_all) {
        check_all(table, keys);
    }
    return keys;
}

std::string match_keys_text(const MatchKeys& keys) {
    if (keys.has_all) {
        return extents_text("patch", keys.patch, keys.has_patch) +
               extents_text("window", keys.window, keys.has_window) + "count = \"all\"\n";
    }
    return fmt::format("{}{}count = {}\nstep = {}\nthreshold = {}\norder = {}\nselection = {}\n",
                       extents_text("patch", keys.patch, keys.has_patch),
                       extents_text("window", keys.window, keys.has_window), keys.count, keys.step,
                       toml_text(keys.threshold),
                       toml_text(order_names.at(static_cast<std::size_t>(keys.order))),
                       toml_text(selection_names.at(static_cast<std::size_t>(keys.selection))));
}

MatchKeys keys_in_effect(MatchKeys keys, const ArrayInfo& input) {
    fill_in(keys, input.shape.size() == 2);
    return keys;
}

Match make_match(const MatchKeys& given, const Volume& volume, const std::string& table) {
    MatchKeys keys = given;
    fill_in(keys, volume.is_image);
    if (volume.is_image) {
        check_image(keys.patch, "patch", table);
        check_image(keys.window, "window", table);
    }
    check_fit(keys, volume, table);
    Match match;
    match.volume = volume.shape;
    for (std::size_t i = 0; i < 3; ++i) {
        match.patch.at(i) = static_cast<int>(keys.patch[i]);
        match.window.at(i) = keys.window[i];
    }
    match.count = static_cast<int>(keys.count);
    // Farther than the volume is no farther; products stay in range so.
    match.step = std::min(keys.step, *std::max_element(volume.shape.begin(), volume.shape.end()));
    match.threshold = rounded_down(keys.threshold);
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
