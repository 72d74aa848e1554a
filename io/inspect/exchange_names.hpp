// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/axes.hpp"
#include "io/rows/frame_roles.hpp"

#include <optional>
#include <string>

namespace runner {

/// A Data Exchange file, as the APS writes it, has the frames of each role in a dataset of their
/// own: `data`, `data_white` and `data_dark` of a group `exchange`, or `exchange_2` and so on.

/// The first group's projections.
inline constexpr const char* exchange_data = "/exchange/data";
/// The angle of each projection, in the same group.
inline constexpr const char* exchange_angles = "theta";

/// The role of all frames of a dataset of such a file, by its path; nothing for other datasets.
std::optional<FrameRole> exchange_role(const std::string& dataset);

/// Whether the frames of such a dataset are along its first axis, as far as the names of its axes
/// say it: in sinograms, which may have the same path, another axis is named for them.
bool counts_frames(const Axes& axes);

/// The flats or darks that belong to the projections `data`.
std::string exchange_field(const std::string& data, FrameRole role);

} // namespace runner
