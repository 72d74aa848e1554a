// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dataset_part.hpp"
#include "io/rows/frame_roles.hpp"
#include "jobs/index_range.hpp"
#include "jobs/table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace runner {

/// Frames for which an element of another dataset has this value.
struct FramesWhere {
    std::string dataset; ///< one number for each frame
    std::int64_t equals = 0;
};

/// Whether the dataset that is named says itself what role each frame has, so that the roles that
/// the file gives them do not count.
bool counts_alone(const FramesWhere& where);

/// `input.region` and `input.frames`: the part of the input dataset that is the job's input.
struct InputSelection {
    std::optional<IndexRange> rows;
    std::optional<IndexRange> columns;
    std::optional<IndexRange> depth;
    std::variant<std::monostate, AllFrames, IndexRange, FramesWhere> frames;

    /// Whether nothing is left out, but for frames of other roles than projection.
    bool is_whole() const;
};

/// The keys that say so, a line each, as "frames = \"0:3000:2\"\n"; empty for the whole.
std::string toml_lines(const InputSelection& selection);

/// Reads the keys `region` and `frames` of [input].
InputSelection parse_input_selection(TableReader& input);

/// The part of a dataset that has this info; nothing for all of it. Of frames with roles the
/// projections are taken, and ranges count among them; `frames = "all"` takes every frame, and so
/// does FramesWhere that counts_alone(). `marks`: the elements of FramesWhere::dataset, where that
/// is given. Rows and columns are the last two axes, the channels of colour left out; depth is the
/// one before, frames are of the first. @throws Error (usage) where the dataset has no such axis, a
/// range is empty or leads beyond the axis, or no frame is left; (input) where no frame is a
/// projection; `where` names the dataset.
std::optional<DatasetPart> resolve_selection(const InputSelection& selection,
                                             const DatasetInfo& info, const FrameRoles& roles,
                                             std::span<const std::int64_t> marks,
                                             const std::string& where);

} // namespace runner
