// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"
#include "io/rows/dataset_part.hpp"
#include "runner/job_file/job_file.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// Where the dataset that a job reads lies: in the file that the job file names, in a stack of
/// files, or in raw ones. @throws Error (input).
DatasetLayout input_layout(const JobFile::Input& input, FileAccess& files);

/// The part of its dataset, of this info, that is the job's input; nothing for all of it. Reads the
/// dataset that frames are chosen by. @throws Error (usage, input).
std::optional<DatasetPart> part_of_input(const JobFile::Input& input, const DatasetInfo& info,
                                         FileAccess& files);

} // namespace runner
