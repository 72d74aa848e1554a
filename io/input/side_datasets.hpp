// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/input/file_access.hpp"
#include "io/inspect/frame_key.hpp"
#include "io/rows/frame_roles.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// What datasets beside the elements say of them: marks and roles of frames, coordinates of axes.

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

/// Places the axes of an HDF5 dataset that have no spacing yet by coordinates in its group that are
/// stored in chunks or behind a link within the file, once all is checked that HDF5 relies on while
/// it reads them. Those that are damaged place nothing. In a process that may be lost.
void place_axes(DatasetLayout& layout, const OutsideFiles& outside);

} // namespace runner
