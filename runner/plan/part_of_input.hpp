// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"
#include "io/rows/dataset_part.hpp"
#include "runner/job_file/job_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The part of its dataset, of this info, that is the job's input; nothing for all of it. Reads the
/// dataset that frames are chosen by. @throws Error (usage, input).
std::optional<DatasetPart> part_of_input(const JobFile::Input& input, const DatasetInfo& info,
                                         FileAccess& files);

/// What the image_key of an NXtomo scan says of a frame.
inline constexpr std::int64_t projection_key = 0;
inline constexpr std::int64_t flat_key = 1;
inline constexpr std::int64_t dark_key = 2;

/// The numbers of the frames that `layout.image_key`, which is there, gives this key.
/// @throws Error (input).
std::vector<std::int64_t> frames_with_key(const std::string& file, const DatasetLayout& layout,
                                          std::int64_t key, FileAccess& files);

} // namespace runner
