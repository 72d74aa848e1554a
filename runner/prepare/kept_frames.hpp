// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/dataset_layout.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/frame_roles.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/kept_frames.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace runner {

struct PreparedJob;

/// `output.keep_fields`: the flats and darks of a scan that its output has beside the frames of the
/// job.
struct KeptFrames {
    DatasetPart all;       ///< of the input: every frame of the output, in the input's order
    DatasetPart fields;    ///< of the input: the flats and darks
    FrameSplit split;      ///< of the frames of `all`
    ArrayInfo joined;      ///< the output with all its frames
    FrameRoles roles = {}; ///< of the frames of `fields`

    std::int64_t bytes() const; ///< of the flats and darks
    /// For people, behind what the job writes.
    std::string plan_text() const;
    /// What the job's identity says of them: a line.
    std::string identity() const;
};

/// What the prepared job keeps; nothing where it does not ask for it. The job is made.
/// @throws Error (usage) where flats and darks cannot stand beside what the job makes: it has other
/// extents, another order, unit or type, or uses them; and where the input has none.
std::optional<KeptFrames> kept_frames(const PreparedJob& prepared);

/// @throws Error (usage): the output cannot keep them.
[[noreturn]] void refuse_kept_frames(const std::string& why, const std::string& try_this);

/// The flats and darks as elements of the output: what is invalid of them in the input is so there.
/// `open` opens the whole input, and masks.
std::unique_ptr<RowReader> open_kept_frames(
    const PreparedJob& prepared,
    const std::function<std::unique_ptr<RowReader>(const DatasetLayout& layout)>& open);

} // namespace runner
