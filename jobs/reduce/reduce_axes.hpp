// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/reduce/reduce_keys.hpp"

#include <vector>

namespace runner {

/// Whether each axis of the input is one that `over` names. An axis that the file calls none of t,
/// c, z, y, x, s and frame is also called by its place: the last ones, without the samples of
/// colour, "y" and "x", and "z" or "frame" the one before them.
/// @throws Error (usage) for a name of no axis, and where "frame" may mean an axis or each frame.
std::vector<bool> reduced_axes(const JobInput& input, const OverAxes& over);

} // namespace runner
