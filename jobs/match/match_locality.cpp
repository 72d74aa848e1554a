// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/match/match_locality.hpp"

#include <cstddef>

namespace runner {

Locality match_locality(const Match& match, const MatchReach& reach) {
    Locality locality;
    for (std::size_t i = 0; i < locality.reach.size(); ++i) {
        if (match.volume.at(i) == 1) {
            continue; // an image
        }
        // A patch covers patch - 1 voxels on either side of another that it covers. With a step,
        // the last reference of a box, which the whole volume need not have, covers one more.
        locality.reach.at(i) =
            reach.half_windows * (match.window.at(i) / 2) + reach.patches * match.patch.at(i);
        locality.step.at(i) = match.step;
    }
    return locality;
}

} // namespace runner
