// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/input_layout.hpp"

#include "base/error.hpp"
#include "io/input/side_datasets.hpp"
#include "io/input/stack.hpp"
#include "io/rows/dense_rows.hpp"
#include "runner/prepare/declared_axes.hpp"

#include <string>
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
    const std::string note = broken_links_note(input.file, input.rules.missing);
    std::vector<DatasetLayout> frames;
    for (const std::string& file : stack_files(input.file)) {
        frames.push_back(raw_layout(file, input.dataset, *input.raw));
    }
    DatasetLayout layout = join_stack(input.file, input.dataset, std::move(frames));
    if (!note.empty()) {
        layout.info.notes.push_back(note);
    }
    return layout;
}

namespace {

/// @throws Error (usage) where frames are known by their number in the dataset, and input.select
/// changes these numbers.
void check_frames_kept(const JobFile::Input& input, const FrameRoles& roles,
                       const DatasetPart& selected, const DatasetInfo& info,
                       const std::string& where) {
    const bool marked = std::holds_alternative<FramesWhere>(input.selection.frames);
    const bool by_role =
        roles.known() && !std::holds_alternative<AllFrames>(input.selection.frames);
    if (keeps_first_axis(selected, info) || !(by_role || marked)) {
        return;
    }
    throw Error(ExitCode::usage,
                {"input.select cannot take frames of this input", "input.select",
                 marked ? "input.frames chooses them by another dataset, for " + where
                        : roles.key + " says the role of each frame of " + where,
                 "Take them by input.frames, which counts among the projections"});
}

} // namespace

InputFrames part_of_input(const JobFile::Input& input, const DatasetInfo& info,
                          const FrameRoles& roles, FileAccess& files) {
    const std::string where = input.file + ":" + input.dataset;
    const auto* const marked = std::get_if<FramesWhere>(&input.selection.frames);
    if (!roles.fault.empty() && marked == nullptr &&
        !std::holds_alternative<AllFrames>(input.selection.frames)) {
        throw Error(ExitCode::input, {"cannot tell which frames are projections", where,
                                      roles.fault, std::string("Mend it; ") + roles_remedy});
    }
    InputFrames found{{}, {}, {}, roles};
    found.selected = selected_part(input.axes.select, info, where);
    if (found.selected) {
        check_frames_kept(input, roles, *found.selected, info, where);
    }
    const DatasetInfo selected = found.selected ? info_of_part(info, *found.selected) : info;
    std::vector<std::int64_t> marks;
    if (marked != nullptr && info.array.shape.size() > 1) {
        marks = read_frame_marks(input.file, marked->dataset, info.array.shape[0], files);
        if (!roles.known() || counts_alone(*marked)) {
            found.roles = roles_by_marks(marked->dataset, marks);
        }
    }
    found.region = resolve_selection(input.selection, selected, roles, marks, where);
    found.part = found.selected && found.region ? part_of_part(*found.selected, *found.region)
                 : found.selected               ? found.selected
                                                : found.region;
    return found;
}

} // namespace runner
