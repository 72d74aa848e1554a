// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/input_selection.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace runner {
namespace {

std::optional<FramesWhere> parse_where(TableReader& frames) {
    FramesWhere where;
    if (!frames.has("where")) {
        frames.missing("where", "where = \"/entry/instrument/detector/image_key\", a dataset with "
                                "one number for each frame");
    }
    where.dataset = frames.text("where").value_or("");
    if (!frames.has("equals")) {
        frames.missing("equals", "equals = 0, the number of the frames to take");
    }
    where.equals = frames.integer("equals").value_or(0);
    frames.finish();
    return where;
}

/// The frames whose mark is the wanted one, of those that are listed, or where none are of all.
std::vector<std::int64_t> marked_frames(const FramesWhere& wanted, std::int64_t extent,
                                        const std::vector<std::int64_t>& listed,
                                        std::span<const std::int64_t> marks,
                                        const std::string& where) {
    const auto count = static_cast<std::int64_t>(marks.size());
    const RangePlace place = {"input.frames", where};
    if (count != extent) {
        refuse_part(place, fmt::format("{} has {} numbers for the {} frames", wanted.dataset, count,
                                       extent));
    }
    std::vector<std::int64_t> frames;
    for (std::int64_t frame = 0; frame < extent; ++frame) {
        if (marks[static_cast<std::size_t>(frame)] == wanted.equals &&
            (listed.empty() || std::binary_search(listed.begin(), listed.end(), frame))) {
            frames.push_back(frame);
        }
    }
    if (frames.empty()) {
        refuse_part(place, fmt::format("{} is {} for no {}", wanted.dataset, wanted.equals,
                                       listed.empty() ? "frame" : "projection"));
    }
    return frames;
}

/// The projections of a scan, of which frames are chosen. @throws Error (input) if there are none.
std::vector<std::int64_t> projections_of(const FrameRoles& roles, const std::string& where) {
    std::vector<std::int64_t> frames = roles.of(FrameRole::projection);
    if (frames.empty()) {
        throw Error(ExitCode::input,
                    {"the input has no projection", where,
                     roles.key + " says that its frames are " + roles.counts_text(),
                     "To take every frame, write input.frames = \"all\""});
    }
    return frames;
}

/// Makes a part of a dataset, step by step.
class PartMaker {
  public:
    /// The arguments outlive this.
    PartMaker(const InputSelection& selection, const DatasetInfo& info, const std::string& where)
        : selection_(selection), shape_(info.array.shape),
          axes_(shape_.size() - (info.channels.value_or(1) > 1 ? 1 : 0)),
          where_(where), found_{std::vector<std::int64_t>(shape_.size(), 0), shape_} {}

    /// Takes the projections of a scan, unless the job file says otherwise.
    void begin_with(const FrameRoles& roles) {
        const auto* const marked = std::get_if<FramesWhere>(&selection_.frames);
        if (roles.known() && !std::holds_alternative<AllFrames>(selection_.frames) &&
            !(marked != nullptr && counts_alone(*marked))) {
            found_.frames = projections_of(roles, where_);
        }
    }

    /// Cuts the axis that is so many from the last one to the range.
    void cut(const std::optional<IndexRange>& range, std::size_t from_last, const char* key) {
        if (!range) {
            return;
        }
        const RangePlace place = {key, where_};
        if (from_last > axes_) {
            refuse_part(place, "there is no such axis in the shape " + shape_text(shape_));
        }
        const std::size_t axis = axes_ - from_last;
        if (axis == 0 && !found_.frames.empty()) {
            const std::size_t before = found_.frames.size();
            found_.frames = chosen_by(*range, shape_[0], found_.frames, place);
            is_cut_ = found_.frames.size() != before;
            return;
        }
        const Indices taken = indices_of(*range, shape_[axis], place);
        found_.first[axis] = taken.first;
        found_.count[axis] = taken.last - taken.first;
        is_cut_ = is_cut_ || (axis == 0 && found_.count[0] != shape_[0]);
    }

    /// Takes what input.frames names of the frames that are left.
    void choose_frames(std::span<const std::int64_t> marks) {
        const RangePlace place = {"input.frames", where_};
        const auto* const range = std::get_if<IndexRange>(&selection_.frames);
        const auto* const marked = std::get_if<FramesWhere>(&selection_.frames);
        if (range == nullptr && marked == nullptr) {
            if (std::cmp_equal(found_.frames.size(), shape_[0])) {
                found_.frames.clear(); // every frame is a projection
            }
            return;
        }
        if (axes_ < 2 || is_cut_) {
            refuse_part(place, axes_ < 2 ? "there are no frames in the shape " + shape_text(shape_)
                                         : "input.region cuts the first axis already");
        }
        found_.frames = range != nullptr
                            ? chosen_by(*range, shape_[0], found_.frames, place)
                            : marked_frames(*marked, shape_[0], found_.frames, marks, where_);
    }

    /// Nothing for all of the dataset.
    std::optional<DatasetPart> made() {
        if (found_.frames.empty()) {
            return selection_.is_whole() ? std::nullopt : std::optional(std::move(found_));
        }
        found_.count[0] = std::ssize(found_.frames);
        return std::move(found_);
    }

  private:
    const InputSelection& selection_;
    const std::vector<std::int64_t>& shape_;
    std::size_t axes_; ///< without that of colour
    const std::string& where_;
    DatasetPart found_;
    bool is_cut_ = false; ///< along the first axis
};

} // namespace

bool InputSelection::is_whole() const {
    return !rows && !columns && !depth &&
           (std::holds_alternative<std::monostate>(frames) ||
            std::holds_alternative<AllFrames>(frames));
}

bool counts_alone(const FramesWhere& where) {
    return where.dataset.ends_with("image_key") || where.dataset.ends_with("image_key_control");
}

std::string toml_lines(const InputSelection& selection) {
    std::string region;
    for (const auto& [key, range] : {std::pair("rows", selection.rows),
                                     {"columns", selection.columns},
                                     {"depth", selection.depth}}) {
        if (range) {
            region += (region.empty() ? "" : ", ") + std::string(key) + " = " + toml_text(*range);
        }
    }
    std::string text = region.empty() ? "" : "region = { " + region + " }\n";
    if (std::holds_alternative<AllFrames>(selection.frames)) {
        text += "frames = \"all\"\n";
    } else if (const auto* const range = std::get_if<IndexRange>(&selection.frames)) {
        text += "frames = " + toml_text(*range) + "\n";
    } else if (const auto* const where = std::get_if<FramesWhere>(&selection.frames)) {
        text += fmt::format("frames = {{ where = {}, equals = {} }}\n",
                            toml_text(std::string_view(where->dataset)), where->equals);
    }
    return text;
}

InputSelection parse_input_selection(TableReader& input) {
    InputSelection selection;
    if (std::optional<TableReader> region = input.table("region")) {
        selection.rows = parse_range(*region, "rows", RangeStep::one);
        selection.columns = parse_range(*region, "columns", RangeStep::one);
        selection.depth = parse_range(*region, "depth", RangeStep::one);
        region->finish();
    }
    const TableValue* const frames = input.value("frames");
    if (frames != nullptr && std::holds_alternative<TableEntries>(frames->data)) {
        if (std::optional<TableReader> table = input.table("frames")) {
            selection.frames = parse_where(*table).value();
        }
    } else if (const FramesTaken range = parse_frame_range(input, "frames");
               !std::holds_alternative<std::monostate>(range)) {
        std::visit([&](const auto& some) { selection.frames = some; }, range);
    }
    return selection;
}

std::optional<DatasetPart> resolve_selection(const InputSelection& selection,
                                             const DatasetInfo& info, const FrameRoles& roles,
                                             std::span<const std::int64_t> marks,
                                             const std::string& where) {
    PartMaker maker(selection, info, where);
    maker.begin_with(roles);
    maker.cut(selection.columns, 1, "input.region.columns");
    maker.cut(selection.rows, 2, "input.region.rows");
    maker.cut(selection.depth, 3, "input.region.depth");
    maker.choose_frames(marks);
    return maker.made();
}

} // namespace runner
