// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"
#include "io/rows/dataset_part.hpp"
#include "runner/job_file/job_file.hpp"

#include <cstdint>
#include <optional>

namespace runner {

/// The part of its dataset, of this info, that is the job's input; nothing for all of it. Reads the
/// dataset that frames are chosen by. @throws Error (usage, input).
std::optional<DatasetPart> part_of_input(const JobFile::Input& input, const DatasetInfo& info,
                                         FileAccess& files);

} // namespace runner
