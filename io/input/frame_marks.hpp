// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"
#include "io/inspect/frame_key.hpp"
#include "io/rows/frame_roles.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// The numbers of a dataset that frames are chosen by, one integer for each of `frames`, in a list
/// or a column. @throws Error (input).
std::vector<std::int64_t> read_frame_marks(const std::string& file, const std::string& dataset,
                                           std::int64_t frames, FileAccess& files);

/// The roles that the datasets of a key give to so many frames; a fault where they cannot be.
FrameRoles read_frame_roles(const std::string& file, const FrameKey& key, std::int64_t frames,
                            FileAccess& files);

/// The roles by numbers that a job file names, of which those without a meaning are of frames of no
/// use.
FrameRoles roles_by_marks(const std::string& dataset, const std::vector<std::int64_t>& marks);

} // namespace runner
