// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/field.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/correct/field_places.hpp"
#include "jobs/correct/image_sources.hpp"
#include "jobs/correct/images.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>

namespace runner {
namespace {

/// In the order of the type's values.
constexpr std::array reduce_names = {"mean", "median", "trimmed", "none"};
constexpr std::array between_names = {"none", "interpolate"};

/// A text under the key that is not empty.
std::optional<std::string> name_under(TableReader& table, std::string_view key) {
    std::optional<std::string> text = table.text(key);
    if (text && text->empty()) {
        table.complain(key, "must not be empty");
    }
    return text;
}

/// Whether a field, whose other keys are read, is interpolated.
Between parse_between(TableReader& table, const FieldSource& source) {
    const auto between = static_cast<Between>(
        table.choice("between", {between_names.begin(), between_names.end()}).value_or(0));
    const bool all = std::holds_alternative<AllFrames>(source.frames);
    if (between == Between::interpolate && (source.file || source.dataset || all)) {
        table.complain("between", "takes the frames of the input's own scan: leave out file, "
                                  "dataset and frames = \"all\"");
    }
    return between;
}

std::optional<FieldChoice> parse_field(TableReader& table, const std::string& key) {
    const TableValue* value = table.value(key);
    if (std::holds_alternative<TableEntries>(value->data)) {
        std::optional<TableReader> reader = table.table(key);
        FieldSource source;
        source.file = name_under(*reader, "file");
        source.dataset = name_under(*reader, "dataset");
        source.frames = parse_frame_range(*reader, "frames");
        const std::optional<std::size_t> reduce =
            reader->choice("reduce", {reduce_names.begin(), reduce_names.end()});
        source.reduce = static_cast<Reduce>(reduce.value_or(0));
        source.between = parse_between(*reader, source);
        reader->finish();
        return source;
    }
    if (!std::holds_alternative<double>(value->data) &&
        !std::holds_alternative<std::int64_t>(value->data)) {
        table.complain(key,
                       "expected " + std::string(field_to_write) + ", got " + type_name(*value));
        return std::nullopt;
    }
    const std::optional<double> number = table.number(key);
    return number ? std::optional<FieldChoice>(*number) : std::nullopt;
}

/// The field that is between the images of groups of frames, of frames of the input.
Field between_groups(const Images& images, const FieldRole& role, const JobInput& input) {
    const auto refuse = [&](const std::string& why, const char* advice) {
        throw Error(ExitCode::usage, {"cannot interpolate the " + std::string(role.name),
                                      "correct." + std::string(role.key), why, advice});
    };
    if (images.frames.empty()) {
        refuse("the input is one frame", "Leave between out");
    }
    const std::int64_t frames = checked_product(input.array.shape) / (images.rows * images.columns);
    FieldPlaces found = field_places(input, role, images.frames, frames);
    std::vector<std::unique_ptr<SideImage::Source>> groups;
    for (const FrameGroup& group : found.groups) {
        Images own = images.part(group.first, group.count);
        if (own.reduce == Reduce::none && own.count > 1) {
            refuse(fmt::format("reduce is \"none\", and from frame {} on there are {} images",
                               own.frames.front(), own.count),
                   "Write reduce = \"mean\", \"median\" or \"trimmed\"");
        }
        groups.push_back(source_of(std::move(own)));
    }
    const std::int64_t rows = std::ssize(groups) * images.rows;
    auto source = source_of_groups(std::move(groups), images.rows, images.columns);
    std::vector<std::string> notes = images.notes;
    if (!found.note.empty()) {
        notes.push_back(std::move(found.note));
    }
    return {0, std::make_shared<const SideImage>(std::move(source), rows, images.columns),
            std::move(found.places), std::move(notes)};
}

} // namespace

Form<FieldChoice> field_form() {
    return {"number or `{ file, dataset, frames, reduce, between }`",
            "`reduce` is `mean`, `median`, `trimmed` or `none`; without `file` the images are in "
            "the input's "
            "file; of a scan, `frames` counts among those of the field, and `between` is `none` or "
            "`interpolate`",
            "float | Any | Mapping[str, Any]", parse_field,
            [](const FieldChoice& choice) { return field_text(choice).value_or(""); }};
}

std::optional<std::string> field_text(const FieldChoice& choice) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return toml_text(*number);
    }
    const auto& source = std::get<FieldSource>(choice);
    const bool takes_frames = !std::holds_alternative<std::monostate>(source.frames);
    const bool interpolates = source.between == Between::interpolate;
    if (!source.file && !source.dataset && !takes_frames && source.reduce == Reduce::mean &&
        !interpolates) {
        return std::nullopt;
    }
    std::string text = "{ ";
    if (source.file) {
        text += "file = " + toml_text(*source.file) + ", ";
    }
    if (source.dataset) {
        text += "dataset = " + toml_text(*source.dataset) + ", ";
    }
    if (takes_frames) {
        const auto* const range = std::get_if<IndexRange>(&source.frames);
        text += "frames = " + (range != nullptr ? toml_text(*range) : "\"all\"") + ", ";
    }
    text.append("reduce = \"").append(reduce_names.at(static_cast<std::size_t>(source.reduce)));
    return text + (interpolates ? "\", between = \"interpolate\" }" : "\" }");
}

Field make_field(const FieldChoice& choice, const FieldRole& role, const JobInput& input,
                 const std::vector<std::int64_t>& frame) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return {static_cast<float>(*number), nullptr};
    }
    const auto& source = std::get<FieldSource>(choice);
    Images images = open_images(source, role, input, frame);
    if (source.between == Between::interpolate) {
        return between_groups(images, role, input);
    }
    const std::int64_t rows = images.rows;
    const std::int64_t columns = images.columns;
    std::vector<std::string> notes = std::move(images.notes);
    return {0,
            std::make_shared<const SideImage>(source_of(std::move(images)), rows, columns),
            {},
            std::move(notes)};
}

CorrectField Field::values() const {
    return {number, image ? image->values().data() : nullptr,
            places.empty() ? nullptr : places.data()};
}

} // namespace runner
