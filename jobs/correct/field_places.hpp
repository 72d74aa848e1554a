// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/correct/field.hpp"
#include "kernels/correct/correct.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// Frames of a field's role that follow one another in the scan, as places in the list of the
/// frames that are taken.
struct FrameGroup {
    std::int64_t first = 0;
    std::int64_t count = 0;

    bool operator==(const FrameGroup&) const = default;
};

/// Which groups of frames the frames of an input lie between.
struct FieldPlaces {
    std::vector<FrameGroup> groups; ///< that are needed, rising; each becomes an image
    std::vector<FieldPlace>
        places;            ///< of each frame of the input; empty where one group is for all
    std::string note = {}; ///< what is odd; else empty
};

/// The groups of the frames `taken` of those `of_role`, both rising.
std::vector<FrameGroup> frame_groups(const std::vector<std::int64_t>& taken,
                                     const std::vector<std::int64_t>& of_role);

/// The places of frames among groups, by where they are on one scale, such as that of time;
/// `groups` rises. A frame before the first group or behind the last has that group alone. Between
/// two, w = (t − a) / (b − a) in float64, rounded to float32.
std::vector<FieldPlace> places_among(const std::vector<double>& groups,
                                     const std::vector<double>& frames);

/// Where the frames of the input lie among the groups of a scan's frames `taken`. The scale is the
/// time of each frame where the detector has it (`start_time` or `time`), else the frame's number;
/// a group stands at its frames' mean. `frames`: of the input, all leading axes.
/// @throws Error (usage, input).
FieldPlaces field_places(const JobInput& input, const FieldRole& role,
                         const std::vector<std::int64_t>& taken, std::int64_t frames);

} // namespace runner
