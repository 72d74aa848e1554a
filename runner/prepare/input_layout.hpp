// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/frame_roles.hpp"
#include "runner/job_file/job_file.hpp"

#include <optional>

namespace runner {

/// Where the dataset that a job reads lies: in the file that the job file names, in a stack of
/// files, or in raw ones. @throws Error (input).
DatasetLayout input_layout(const JobFile::Input& input, FileAccess& files);

/// What of its dataset is a job's input.
struct InputFrames {
    std::optional<DatasetPart> selected = {}; ///< by input.select; nothing for all of it
    std::optional<DatasetPart> region = {};   ///< of that, by the other keys; nothing for all of it
    std::optional<DatasetPart> part = {};     ///< both; nothing for all of the dataset
    /// The roles of all frames of the dataset, by the file, or by the dataset that the job file
    /// names.
    FrameRoles roles = {};
};

/// The part of the dataset, of this info with its declared_axes(), that is the job's input: what
/// input.select takes, and of that the region and frames. Reads the dataset that the job
/// file chooses frames by. `roles`: what the file says of the frames. @throws Error (usage, input);
/// where the roles have a fault too, unless the job file takes every frame or names them itself.
InputFrames part_of_input(const JobFile::Input& input, const DatasetInfo& info,
                          const FrameRoles& roles, FileAccess& files);

} // namespace runner
