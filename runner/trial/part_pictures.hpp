// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dataset_part.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/trial/part_choice.hpp"
#include "views/pictures/thumbnail.hpp"

#include <string>

namespace runner {

/// The middle of a box, as large as a picture of it can show each element.
Box picture_of(Box box);

/// A box of the job's input as a part of its dataset; the channels of colour are added.
DatasetPart dataset_part(const std::optional<DatasetPart>& of, const Box& box,
                         const std::vector<std::int64_t>& shape);

/// The middle image of a part of the job's input.
Thumbnail input_thumbnail(FileAccess& files, const PreparedJob& prepared, const DatasetPart& part);

/// The middle image of a box of a file's dataset, which may also have an axis of channels.
Thumbnail output_thumbnail(FileAccess& files, const std::string& file, const std::string& dataset,
                           const Box& box);

} // namespace runner
