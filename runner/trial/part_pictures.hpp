// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dataset_part.hpp"
#include "io/rows/rows.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/trial/part/part_choice.hpp"
#include "runner/trial/part/part_course.hpp"
#include "views/pictures/thumbnail.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runner::trial {

/// Boxes of the input, at most so many, each of which becomes an image of what is made: evenly
/// spaced along the third axis from the last of what is made, and the middle of the others. Each
/// image is as large as a picture can show every element. `best`: what they lie in.
std::vector<Box> pictures_of(const std::vector<MadeAxis>& made, const Box& best,
                             std::int64_t slices);

/// The axis of the input along which slices are counted; nothing where there is none.
std::optional<std::size_t> slice_axis(const std::vector<MadeAxis>& made);

/// The same at these numbers along slice_axis(), counted in the whole input. `part`: the one that
/// is run. @throws Error (usage) if there is no such axis, or the box does not hold a number.
std::vector<Box> pictures_at(const std::vector<MadeAxis>& made, const Box& best,
                             const std::vector<std::int64_t>& numbers, const Box& part);

/// What an image of the input, before it is made, shows of a picture's box: the middle of it where
/// what is made has its rows and columns as the input has them; else one of as many images that
/// are evenly spaced in `best`.
Box picture_before(const std::vector<MadeAxis>& made, const Box& best,
                   const std::vector<Box>& pictures, std::size_t index);

/// The middle of a box, as large as a picture can show every element.
Box middle_picture(Box box);

/// Near the middle between the least and the largest of numbers along slice_axis(); nothing of
/// none.
std::optional<PartMiddle> middle_of(const std::vector<std::int64_t>& numbers,
                                    const std::vector<MadeAxis>& made);

/// A box of the job's input as a part of its dataset; the channels of colour are added.
DatasetPart dataset_part(const std::optional<DatasetPart>& of, const Box& box,
                         const std::vector<std::int64_t>& shape);

/// Rows of a dataset, and its name for messages.
struct NamedRows {
    std::string file;
    std::string dataset;
    std::unique_ptr<RowReader> rows;
    std::optional<bool> colour; ///< as ImageChoice::colour
};

/// A box of a job's input, as the job reads it.
NamedRows input_rows(FileAccess& files, const PreparedJob& prepared, const Box& box);

/// A box of a file's dataset, as far as that reaches, which may also have an axis of channels.
NamedRows dataset_rows(FileAccess& files, const std::string& file, const std::string& dataset,
                       const Box& box);

/// The middle image of the rows, a pixel for each element; of an array of one axis a single line.
Thumbnail image_of(FileAccess& files, NamedRows rows);

} // namespace runner::trial
