// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace runner {

/// The angles at which the frames of a scan were taken.
struct FrameAngles {
    std::int64_t count = 0; ///< one for each frame, ≥ 1
    double first = 0;       ///< that of the first frame, in `unit`
    double last = 0;
    double least = 0; ///< of those that are finite
    double greatest = 0;
    std::string unit = {}; ///< as the file has it; empty where it has none

    bool operator==(const FrameAngles&) const = default;
};

/// The angles that a file says of its frames: NXtomo's rotation_angle, Data Exchange's theta.
/// Nothing where it says none, or none that is finite.
std::optional<FrameAngles> frame_angles(const Metadata& metadata);

/// "721 from 0 to 180 degree"; where they do not rise from the first to the last, the least and the
/// greatest too.
std::string to_text(const FrameAngles& angles);

} // namespace runner
