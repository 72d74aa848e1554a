// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/images.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/joined_meaning.hpp"
#include "io/input/file_access.hpp"
#include "io/inspect/exchange_names.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/index_range.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner {
namespace {

constexpr int read_threads = 8;

std::string key_of(const FieldRole& role) { return "correct." + std::string(role.key); }

/// The frames of a dataset that a field is made of: of a scan those of its role.
/// @throws Error (usage, input).
std::vector<std::int64_t> frames_of_field(const FieldSource& source, const FieldRole& role,
                                          const FrameRoles& roles, std::int64_t frames,
                                          const std::string& where) {
    const bool all = std::holds_alternative<AllFrames>(source.frames);
    if (!all && !roles.fault.empty()) {
        throw Error(ExitCode::input, {"cannot tell which frames are the " + std::string(role.name),
                                      where, roles.fault, std::string("Mend it; ") + roles_remedy});
    }
    std::vector<std::int64_t> found;
    if (!all && roles.known()) {
        found = roles.of(role.frames);
        if (found.empty()) {
            throw Error(ExitCode::input,
                        {"there is no " + std::string(role.name), where,
                         roles.key + " is " + std::to_string(key_of_role(role.frames)) +
                             " for no frame: they are " + roles.counts_text(),
                         "Name another file in " + key_of(role) + ", " + roles_remedy});
        }
    }
    if (const auto* const range = std::get_if<IndexRange>(&source.frames)) {
        return chosen_by(*range, frames, found, {key_of(role) + ".frames", where});
    }
    return found;
}

/// The extents of the whole dataset that the input is of; none where it is yet to be made.
std::vector<std::int64_t> source_shape(const JobInput& input) {
    return input.files == nullptr || input.source.file.empty()
               ? std::vector<std::int64_t>()
               : input.files->layout(input.source.file, input.source.dataset).info.array.shape;
}

/// Cuts the last axes to the region that the job takes of its input, where they are as long as the
/// whole input's.
void cut_to_region(const JobInput& input, std::size_t axes, DatasetPart& part) {
    const std::size_t from = part.count.size() - axes;
    const std::vector<std::int64_t> whole = source_shape(input);
    const std::size_t first = whole.size() - std::min(axes, whole.size());
    const bool drops = std::any_of(input.part->dropped.begin(), input.part->dropped.end(),
                                   [first](std::size_t axis) { return axis >= first; });
    if (whole.size() < axes || input.part->count.size() != whole.size() || drops ||
        !std::equal(whole.end() - static_cast<std::ptrdiff_t>(axes), whole.end(),
                    part.count.begin() + static_cast<std::ptrdiff_t>(from))) {
        return;
    }
    for (std::size_t i = 0; i < axes; ++i) {
        part.first[from + i] = input.part->first[whole.size() - axes + i];
        part.count[from + i] = input.part->count[whole.size() - axes + i];
        if (!input.part->step.empty()) {
            part.step.resize(part.count.size(), 1);
            part.step[from + i] = input.part->step[whole.size() - axes + i];
        }
    }
}

[[noreturn]] void refuse_shape(const FieldRole& role, const std::string& where,
                               const std::vector<std::int64_t>& shape,
                               const std::vector<std::int64_t>& frame, const JobInput& input) {
    throw Error(ExitCode::input,
                {"the " + std::string(role.name) + " does not fit the input", where,
                 "its shape is " + shape_text(shape) + ", and a frame of the input, " +
                     shape_text(input.array.shape) + ", is " + shape_text(frame),
                 "Name images of the input's rows and columns"});
}

/// "axes 0 and 2", the last ones of these.
std::string axes_text(std::span<const std::int64_t> axes) {
    std::string text = "axes ";
    for (std::size_t i = 0; i < axes.size(); ++i) {
        text += i == 0 ? "" : i + 1 < axes.size() ? ", " : " and ";
        text += axes[i] < 0 ? "a new one" : std::to_string(axes[i]);
    }
    return text;
}

/// What the images of the input have for rows and columns, where these are not the rows and columns
/// of its source, in their order.
struct OtherAxes {
    std::string images;                     ///< "axes 0 and 2"
    std::string source;                     ///< of the source's images
    std::vector<std::int64_t> extents = {}; ///< of the source's images
};

std::optional<OtherAxes> other_axes(const JobInput& input, std::size_t axes) {
    if (input.source_axes.size() < axes) {
        return std::nullopt;
    }
    const std::vector<std::int64_t> whole = source_shape(input);
    if (whole.size() < axes) {
        return std::nullopt;
    }
    std::vector<std::int64_t> own(axes);
    std::iota(own.begin(), own.end(), std::ssize(whole) - static_cast<std::int64_t>(axes));
    const auto images = std::span(input.source_axes).last(axes);
    if (std::equal(own.begin(), own.end(), images.begin())) {
        return std::nullopt;
    }
    return OtherAxes{axes_text(images),
                     axes_text(own),
                     {whole.end() - static_cast<std::ptrdiff_t>(axes), whole.end()}};
}

[[noreturn]] void refuse_axes(const OtherAxes& axes, const FieldRole& role,
                              const std::string& where, const JobInput& input) {
    const bool drops = input.part && !input.part->dropped.empty();
    throw Error(ExitCode::usage,
                {"the " + std::string(role.name) + " is not of the images that correct gets", where,
                 fmt::format("an image of the scan has {} of {}, and what correct gets as rows and "
                             "columns are {}",
                             axes.source, file_and_dataset(input.source.file, input.source.dataset),
                             axes.images),
                 drops ? "In input.select write a range, as y = \"2:3\", which keeps the axis; or "
                         "correct the whole images first"
                       : "Put correct before the step that moves or drops these axes"});
}

/// Refuses images of a scan for an input whose images have other axes. Returns what is odd of
/// others, whose axes nobody knows, where they fit the images of the source as well; else "".
/// @throws Error (usage).
std::string check_axes(bool of_scan, const FieldRole& role, const std::string& where,
                       const JobInput& input, const std::vector<std::int64_t>& frame) {
    const std::optional<OtherAxes> axes = other_axes(input, frame.size());
    if (axes && of_scan) {
        refuse_axes(*axes, role, where, input);
    }
    if (!axes || axes->extents != frame) {
        return "";
    }
    return fmt::format("the {} ({}) is taken as it is for images of {} of the input; images of {} "
                       "have the same extents: if it is one of these, put correct before what "
                       "moves or drops axes",
                       role.name, where, axes->images, axes->source);
}

/// So that no sum of sizes passes 2⁶³: what is computed takes below 64 bytes a pixel of an image,
/// and beside the elements below 2¹⁶ bytes an image.
void check_sizes(const Images& images, const std::string& where, const ArrayInfo& array) {
    constexpr double most = 0x1p62;
    const double pixels = static_cast<double>(images.rows) * static_cast<double>(images.columns);
    const double bytes = pixels * static_cast<double>(size_of(array.type));
    if (64 * pixels > most || static_cast<double>(images.count) * (4 * bytes + 0x1p16) > most) {
        throw Error(ExitCode::input, {"cannot take the images of a field", where,
                                      "its shape is " + shape_text(array.shape) +
                                          ", more than there is memory for on any machine",
                                      "Name another dataset"});
    }
}

[[noreturn]] void refuse_between(const FieldRole& role, const std::string& why) {
    throw Error(ExitCode::usage,
                {"cannot interpolate the " + std::string(role.name), key_of(role) + ".between", why,
                 "Leave between out, and name images"});
}

/// @throws Error (usage) if the field is neither named nor among the frames of the input.
void check_source(const FieldSource& source, const FieldRole& role, const JobInput& input) {
    const bool in_exchange = exchange_role(input.source.dataset) == FrameRole::projection;
    if (source.between == Between::interpolate && !input.roles.known() && !in_exchange) {
        refuse_between(role, input.roles.fault.empty() ? "the input has no image_key that says "
                                                         "which of its frames are such"
                                                       : input.roles.fault);
    }
    if (!source.file && !source.dataset && !input.roles.known() && !in_exchange) {
        throw Error(ExitCode::usage,
                    {"correct has no " + std::string(role.name), key_of(role),
                     "it is left out, and " +
                         (input.roles.fault.empty()
                              ? "the input has no image_key that says which of its frames are such"
                              : input.roles.fault),
                     std::string("Write ") + field_to_write});
    }
    if (input.files == nullptr || (!source.file && input.source.file.empty())) {
        throw Error(ExitCode::usage, {"correct has no " + std::string(role.name), key_of(role),
                                      "it is in the input's file, which is yet to be made",
                                      "Name a file that is there"});
    }
}

/// The layout of the images' dataset, or of the frames that the field's are among. Names the
/// dataset in `source` where it is that of a role in a Data Exchange file.
/// @throws Error (usage, input).
DatasetLayout field_layout(const std::string& file, const FieldRole& role, const JobInput& input,
                           FieldSource& source) {
    DatasetLayout layout =
        input.files->layout(file, source.dataset.value_or(source.file ? "" : input.source.dataset));
    if (source.dataset || layout.roles.known() ||
        exchange_role(layout.dataset) != FrameRole::projection) {
        return layout;
    }
    if (source.between == Between::interpolate) {
        refuse_between(role, "a Data Exchange file does not say when its frames were taken");
    }
    if (!counts_frames(layout.info.axes)) {
        throw Error(ExitCode::usage,
                    {"correct has no " + std::string(role.name), key_of(role),
                     "it is left out, and " + file + ":" + layout.dataset +
                         " are no frames: its axes are " + layout.info.axes.names(),
                     std::string("Correct the projections before they are transposed, or write ") +
                         field_to_write});
    }
    source.dataset = exchange_field(layout.dataset, role.frames);
    if (!input.files->has_dataset(file, *source.dataset)) {
        throw Error(ExitCode::input,
                    {"there is no " + std::string(role.name), key_of(role) + ", " + file,
                     "it has no " + *source.dataset + ", which a Data Exchange file has beside " +
                         layout.dataset,
                     std::string("Write ") + field_to_write});
    }
    return input.files->layout(file, *source.dataset);
}

/// The images of the field, as a part of their dataset. @throws Error (input) if they do not fit.
DatasetPart part_of(const DatasetLayout& layout, const FieldSource& source, const FieldRole& role,
                    const JobInput& input, const std::vector<std::int64_t>& frame,
                    const std::string& where) {
    const ArrayInfo& array = layout.info.array;
    if (!is_number(array.type)) {
        throw Error(ExitCode::input, {"cannot take the " + std::string(role.name), where,
                                      "its elements are " + type_text(array) + ", not real numbers",
                                      "Name a dataset of images"});
    }
    if (array.shape.size() < frame.size()) {
        refuse_shape(role, where, array.shape, frame, input);
    }
    DatasetPart part{std::vector<std::int64_t>(array.shape.size(), 0), array.shape};
    if (array.shape.size() > frame.size()) {
        const bool of_input = !source.file && !source.dataset;
        part.frames = frames_of_field(source, role, of_input ? input.roles : layout.roles,
                                      array.shape[0], where);
    }
    if (!part.frames.empty()) {
        part.count[0] = std::ssize(part.frames);
    }
    if (input.part) {
        cut_to_region(input, frame.size(), part);
    }
    if (!std::equal(frame.begin(), frame.end(),
                    part.count.end() - static_cast<std::ptrdiff_t>(frame.size()))) {
        refuse_shape(role, where, array.shape, frame, input);
    }
    return part;
}

/// The invalid elements of a field's dataset: as the job says of all that it reads, or else as the
/// dataset's own file does. Of floats NaN where the input has invalid elements too.
std::optional<double> invalid_of(const DatasetLayout& layout, const JobInput& input) {
    const ElementType type = layout.info.array.type;
    const InvalidRule& rule = input.invalid_rule;
    if (!rule.heeds) {
        return std::nullopt;
    }
    const std::string where = file_and_dataset(layout.file, layout.dataset);
    if (const auto text = differing_marks(layout.info.invalid, where); text && !rule.number) {
        throw Error(ExitCode::input, *text);
    }
    for (const std::optional<double>& number : {rule.number, layout.info.invalid_value}) {
        if (number && has_element(type, *number)) {
            return number;
        }
    }
    const bool is_heeded = rule.number || layout.info.invalid_value || input.invalid;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return is_heeded && has_element(type, nan) ? std::optional(nan) : std::nullopt;
}

/// Whether a mask of the source's extents marks elements of this dataset.
bool is_masked(const DatasetLayout& layout, const std::string& file, const JobInput& input) {
    return input.source_mask && input.invalid && file == input.source.file &&
           layout.dataset == input.source.dataset;
}

} // namespace

void Images::read(std::int64_t image, std::int64_t images, std::int64_t first, std::int64_t band,
                  std::byte* to) const {
    const std::int64_t row = (first_image + image) * rows;
    if (band == rows) {
        return reader->read(row, images * rows, to);
    }
    reader->read_runs({row + first, band, images, rows, 0, columns}, to);
}

Images Images::part(std::int64_t place, std::int64_t of_frames) const {
    const std::int64_t each = count / std::ssize(frames); // images of a frame
    Images part = *this;
    part.first_image = first_image + place * each;
    part.count = of_frames * each;
    part.frames.assign(frames.begin() + place, frames.begin() + place + of_frames);
    return part;
}

Images open_images(const FieldSource& asked, const FieldRole& role, const JobInput& input,
                   const std::vector<std::int64_t>& frame) {
    FieldSource source = asked;
    check_source(source, role, input);
    const std::string file = source.file.value_or(input.source.file);
    const DatasetLayout layout = field_layout(file, role, input, source);
    const std::string where = key_of(role) + ", " + file + ":" + layout.dataset;
    const bool is_exchange = !asked.dataset && source.dataset;
    const FrameRoles& roles = source.file || source.dataset ? layout.roles : input.roles;
    std::string note = check_axes(is_exchange || roles.known(), role, where, input, frame);
    const bool is_input = file == input.source.file && layout.dataset == input.source.dataset;
    const DatasetPart part = part_of(layout, source, role, input, frame, where);
    const std::size_t leading = part.count.size() - frame.size();
    Images images;
    if (!is_input) { // of which the job says it anyway
        images.notes = layout.info.notes;
    }
    if (!note.empty()) {
        images.notes.push_back(std::move(note));
    }
    images.reduce = source.reduce;
    images.count = checked_product(std::span(part.count).first(leading));
    images.columns = frame.back();
    images.rows = checked_product(std::span(frame).first(frame.size() - 1));
    std::unique_ptr<RowReader> rows = open_part(input.files->open(layout, read_threads), part);
    images.reader_bytes = layout_reader_bytes(layout, read_threads);
    images.invalid = invalid_of(layout, input);
    if (is_masked(layout, file, input)) {
        rows = input.source_mask->mark(std::move(rows), part, read_threads);
        images.reader_bytes += input.source_mask->bytes(read_threads);
        images.invalid = input.source_mask->number();
    }
    images.reader = std::move(rows);
    images.is_packed = layout.way != DatasetLayout::Way::positions;
    const std::vector<std::int64_t>& chunk = layout.info.chunk;
    if (chunk.size() == part.count.size() && leading == 1) {
        images.packed_together = part.frames.empty() ? chunk[0] : 1;
        images.packed_rows = chunk.size() > 2 ? chunk[1] : 1;
    }
    images.frames = part.frames;
    const ArrayInfo& array = layout.info.array;
    const bool is_one = source.reduce == Reduce::none && source.between == Between::none;
    if (images.count == 0 || (is_one && images.count != 1)) {
        throw Error(ExitCode::input,
                    {"cannot take the " + std::string(role.name), where,
                     "its shape is " + shape_text(array.shape) + ", which is " +
                         std::to_string(images.count) + " images of " + shape_text(frame),
                     images.count == 0 ? "Name a dataset with images"
                                       : "Write reduce = \"mean\", \"median\" or \"trimmed\""});
    }
    check_sizes(images, where, array);
    return images;
}

} // namespace runner
