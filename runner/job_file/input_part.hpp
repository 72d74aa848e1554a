// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/dataset_part.hpp"
#include "jobs/table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace runner {

/// "BEGIN:END" or "BEGIN:END:STEP" as numpy slices: either side may be left out, and a negative
/// number counts from the end of the axis.
struct IndexRange {
    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> end;
    std::int64_t step = 1;
};

/// Frames for which an element of another dataset has this value.
struct FramesWhere {
    std::string dataset; ///< one number for each frame
    std::int64_t equals = 0;
};

/// `input.region` and `input.frames`: the part of the input dataset that is the job's input.
struct InputPart {
    std::optional<IndexRange> rows;
    std::optional<IndexRange> columns;
    std::optional<IndexRange> depth;
    std::variant<std::monostate, IndexRange, FramesWhere> frames;

    bool is_whole() const;
};

/// The keys that say so, a line each, as "frames = \"0:3000:2\"\n"; empty for the whole.
std::string toml_lines(const InputPart& part);

/// Reads the keys `region` and `frames` of [input].
InputPart parse_input_part(TableReader& input);

/// The part of a dataset that has this info. `marks`: the elements of FramesWhere::dataset, where
/// that is given. Rows and columns are the last two axes, the channels of colour left out; depth is
/// the one before, frames are of the first. @throws Error (usage) where the dataset has no such
/// axis, a range is empty or leads beyond the axis, or no frame is left; `where` names the dataset.
DatasetPart resolve_part(const InputPart& part, const DatasetInfo& info,
                         std::span<const std::int64_t> marks, const std::string& where);

} // namespace runner
