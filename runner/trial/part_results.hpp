// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/trial/part/part_course.hpp"
#include "runner/trial/part_pictures.hpp"
#include "runner/trial/trial_results.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner::trial {

/// What a run on a part has made.
struct PartResult {
    std::string file;
    std::string dataset;                   ///< of several, the group that they are in
    bool is_matches = false;               ///< the lists of `match`
    std::vector<std::int64_t> whole_shape; ///< that the whole job makes
    std::span<const MadeAxis> made;        ///< of the whole job
    Box part;                              ///< of the input
    std::optional<bool> colour;            ///< whether a last axis is, where the file does not say
};

/// The pictures of the boxes of the input. Of matches it is one: the mean distance of the finite
/// ones of each patch, in the middle layer.
std::vector<Thumbnail> pictures_of(FileAccess& files, const PartResult& result,
                                   std::span<const Box> shown);

/// Compares these boxes with the same elements of another file, the mean over them.
/// @throws Error (usage) if its dataset has not the shape of the whole output; (input).
Closeness closeness(FileAccess& files, const PartResult& result, std::span<const Box> shown,
                    const std::string& other_file, const std::string& other_dataset);

} // namespace runner::trial
