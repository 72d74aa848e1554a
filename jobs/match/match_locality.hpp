// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/locality.hpp"
#include "kernels/match/match.hpp"

namespace runner {

/// How far a method goes from the voxel that it makes: by so many half windows and patches.
struct MatchReach {
    std::int64_t half_windows = 0;
    std::int64_t patches = 0;
};

/// A voxel is made of the references that cover it, and these of their matches.
inline constexpr MatchReach estimates_references = {1, 1};
/// In each of two passes a voxel is made of all matches that cover it, of references within a
/// window about these, and of these references' other matches.
inline constexpr MatchReach estimates_matches_twice = {4, 2};

/// The locality of a job that matches patches.
Locality match_locality(const Match& match, const MatchReach& reach);

} // namespace runner
