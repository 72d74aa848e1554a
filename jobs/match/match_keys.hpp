// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/keys.hpp"
#include "jobs/match/volume.hpp"
#include "kernels/match/match.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// The keys that say what is matched, as the job file gives them: of [match] and of [denoise].
struct MatchKeys {
    /// Extents along z, y and x; nothing: the usual ones, which have 1 along z for an image.
    std::optional<std::vector<std::int64_t>> patch;
    std::optional<std::vector<std::int64_t>> window;
    std::vector<std::int64_t> usual_patch = {3, 3, 3}; ///< no key: of the method
    std::int64_t count = 16;
    bool has_all = false; ///< count = "all": every candidate, and `count` has no meaning
    std::int64_t step = 1;
    double threshold = std::numeric_limits<double>::infinity();
    MatchOrder order = MatchOrder::nearest_first;
    MatchSelection selection = MatchSelection::fast;
};

/// The forms of the keys' values.
Form<std::vector<std::int64_t>> patch_form();
Form<std::vector<std::int64_t>> window_form();
Form<double> threshold_form();

/// The window where the job file has none.
std::vector<std::int64_t> usual_window();

/// The usual extents, which are others for an image: "[3, 3, 3]; for an image [1, 3, 3]".
std::string extents_comment(std::vector<std::int64_t> extents);

/// Reports a key that chooses among candidates, where count = "all" takes every one.
template <class Keys> typename Key<Keys>::Read not_with_all(std::string name, auto is_usual) {
    return [name = std::move(name), is_usual](TableReader& table, Keys& keys) {
        if (!keys.has_all || is_usual(keys)) {
            return true;
        }
        table.complain(name, "count = \"all\" takes every candidate of every patch; leave it out");
        return false;
    };
}

/// `patch` and `window`. `usual_patch`: the default in words.
template <class Keys> std::vector<Key<Keys>> extents_keys(std::string usual_patch) {
    return {
        key<Keys>("patch", &MatchKeys::patch, patch_form(),
                  "extents of a patch along z, y and x, at most the input's")
            .usually(std::move(usual_patch))
            .comment([](const Keys& keys) { return extents_comment(keys.usual_patch); })
            .sample("[3, 3, 3]", KeyText::Shown::commented),
        key<Keys>("window", &MatchKeys::window, window_form(),
                  "where similar patches are looked for, with the reference in the middle")
            .usually("`[11, 11, 11]`; for an image `[1, 11, 11]`")
            .detail("Candidates lie up to (window − 1) / 2 from the reference along each axis")
            .comment([](const Keys& /*keys*/) { return extents_comment(usual_window()); })
            .sample("[11, 11, 11]", KeyText::Shown::commented),
    };
}

/// The keys behind `count`, which say what is matched. `usual_step`: the default in words.
template <class Keys> std::vector<Key<Keys>> choosing_keys(std::string usual_step) {
    const auto chooses = [](const Keys& keys) { return !keys.has_all; };
    return {
        key<Keys>("step", &MatchKeys::step, integer_form(1),
                  "from one reference to the next, along each axis")
            .then(not_with_all<Keys>("step", [](const Keys& keys) { return keys.step == 1; }))
            .only_where(chooses)
            .usually(std::move(usual_step))
            .sample("1", KeyText::Shown::commented), // it may depend on the method
        key<Keys>("threshold", &MatchKeys::threshold, threshold_form(),
                  "the largest distance of a match, the mean of squared differences")
            .then(not_with_all<Keys>("threshold",
                                     [](const Keys& keys) { return std::isinf(keys.threshold); }))
            .only_where(chooses),
        key<Keys>("order", &MatchKeys::order, choice_form<MatchOrder>({"ascending", "descending"}),
                  "of the matches of a patch by distance")
            .detail("`descending` puts the nearest match last")
            .then(not_with_all<Keys>(
                "order", [](const Keys& keys) { return keys.order == MatchOrder::nearest_first; }))
            .only_where(chooses),
        key<Keys>("selection", &MatchKeys::selection,
                  choice_form<MatchSelection>({"fast", "serial", "min_and_swap"}),
                  "the algorithm that selects the matches; all select the same ones")
            .detail("The last two are published kernels, kept for comparison; they take at most "
                    "24576 candidates")
            .then(not_with_all<Keys>(
                "selection",
                [](const Keys& keys) { return keys.selection == MatchSelection::fast; }))
            .only_where(chooses),
    };
}

/// Sets patch and window where the job file does not.
void fill_in(MatchKeys& keys, bool is_image);

/// The largest float32 that is no more than `threshold`, which may be infinite.
float distance_limit(double threshold);

/// `table`: the name of theirs, for messages. @throws Error (usage) where they do not fit the
/// volume.
Match make_match(const MatchKeys& keys, const Volume& volume, const std::string& table);

} // namespace runner
