// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/match/volume.hpp"
#include "jobs/table.hpp"
#include "kernels/match/match.hpp"

#include <optional>
#include <string>

namespace runner {

/// The keys that say what is matched, as the job file gives them: of [match] and of [denoise].
struct MatchKeys {
    std::vector<std::int64_t> patch = {3, 3, 3};
    std::vector<std::int64_t> window = {11, 11, 11};
    /// Whether the job file sets them. For an image the defaults have extent 1 along z.
    bool has_patch = false;
    bool has_window = false;
    std::int64_t count = 16;
    bool has_all = false; ///< count = "all": every candidate, and `count` has no meaning
    std::int64_t step = 1;
    double threshold = std::numeric_limits<double>::infinity();
    MatchOrder order = MatchOrder::nearest_first;
    MatchSelection selection = MatchSelection::fast;
};

/// Reads them over what `keys` has; reports what is wrong, and then what it returns is of no use.
/// With `has_all` set, `count` is not read, and none of the keys that choose candidates is taken.
MatchKeys parse_match_keys(TableReader& table, MatchKeys keys = {});

/// As lines of TOML. A default that is not the same for an image and a volume is a comment.
std::string match_keys_text(const MatchKeys& keys);

/// The keys as they apply to this input, with patch and window set.
MatchKeys keys_in_effect(MatchKeys keys, const ArrayInfo& input);

/// `table`: the name of theirs, for messages. @throws Error (usage) where they do not fit the
/// volume.
Match make_match(const MatchKeys& keys, const Volume& volume, const std::string& table);

} // namespace runner
