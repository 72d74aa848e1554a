// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/part_of_input.hpp"

#include "jobs/frame_marks.hpp"

#include <variant>
#include <vector>

namespace runner {
std::optional<DatasetPart> part_of_input(const JobFile::Input& input, const DatasetInfo& info,
                                         FileAccess& files) {
    if (input.part.is_whole()) {
        return std::nullopt;
    }
    std::vector<std::int64_t> marks;
    if (const auto* const where = std::get_if<FramesWhere>(&input.part.frames);
        where != nullptr && info.array.shape.size() > 1) {
        marks = read_frame_marks(input.file, where->dataset, info.array.shape[0], files);
    }
    return resolve_part(input.part, info, marks, input.file + ":" + input.dataset);
}

} // namespace runner
