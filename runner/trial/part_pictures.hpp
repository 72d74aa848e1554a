// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dataset_part.hpp"
#include "io/rows/rows.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/trial/part_choice.hpp"
#include "views/pictures/thumbnail.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// Single images within a box, at most so many, evenly spaced along the third axis from the last;
/// the middle of the others. Each is as large as a picture can show every element.
std::vector<Box> pictures_of(const Box& box, std::int64_t slices);

/// A box of the job's input as a part of its dataset; the channels of colour are added.
DatasetPart dataset_part(const std::optional<DatasetPart>& of, const Box& box,
                         const std::vector<std::int64_t>& shape);

/// Rows of a dataset, and its name for messages.
struct NamedRows {
    std::string file;
    std::string dataset;
    std::unique_ptr<RowReader> rows;
};

/// A box of a job's input, as the job reads it.
NamedRows input_rows(FileAccess& files, const PreparedJob& prepared, const Box& box);

/// A box of a file's dataset, which may also have an axis of channels.
NamedRows dataset_rows(FileAccess& files, const std::string& file, const std::string& dataset,
                       const Box& box);

/// The middle image of the rows, a pixel for each element.
Thumbnail image_of(FileAccess& files, NamedRows rows);

} // namespace runner
