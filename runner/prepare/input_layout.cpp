// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/input_layout.hpp"

#include "io/input/stack.hpp"
#include "io/rows/dense_rows.hpp"
#include "jobs/frame_marks.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

DatasetLayout raw_layout(const std::string& file, const std::string& dataset,
                         const DenseLayout& raw) {
    DatasetLayout layout{file, dataset, file, {}, DatasetLayout::Way::positions};
    add_mark(layout.files, file);
    layout.info = open_raw_rows(file, raw, 1)->info();
    return layout;
}

} // namespace

DatasetLayout input_layout(const JobFile::Input& input, FileAccess& files) {
    if (!input.raw) {
        return files.layout(input.file, input.dataset);
    }
    if (!is_stack(input.file)) {
        return raw_layout(input.file, input.dataset, *input.raw);
    }
    std::vector<DatasetLayout> frames;
    for (const std::string& file : stack_files(input.file)) {
        frames.push_back(raw_layout(file, input.dataset, *input.raw));
    }
    return join_stack(input.file, input.dataset, std::move(frames));
}

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
