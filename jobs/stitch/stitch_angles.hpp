// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace runner {

/// Whether angles of frames, of which i and i + `pairs` are joined, are those of opposite sides.
/// Nothing where each pair is half a turn apart, to half a step from frame to frame, in degrees or
/// radians; else the pair that is the farthest from that, in words. There are at least
/// 2 · `pairs` ≥ 2 angles.
std::optional<std::string> wrong_angles(std::span<const double> angles, std::int64_t pairs);

/// The same of the angles that the input's file has: `sample/rotation_angle` of an NXtomo scan, or
/// an axis whose elements are evenly apart. Nothing where it says none. `axis`: of the input, that
/// of the frames.
std::optional<std::string> wrong_angles(const JobInput& input, std::size_t axis,
                                        std::int64_t pairs);

} // namespace runner
