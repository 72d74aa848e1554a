// SPDX-License-Identifier: BSD-3-Clause
#include "views/converted_metadata.hpp"

#include "base/error.hpp"
#include "base/joined_meaning.hpp"
#include "base/text.hpp"
#include "io/formats/rows_format.hpp"
#include "io/metadata/axis_metadata.hpp"
#include "io/metadata/carry_metadata.hpp"
#include "io/metadata/lost_metadata.hpp"
#include "io/rows/dataset_part.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace runner {
namespace {

std::size_t axes_of_frame(const FrameSource& source) { return source.image.channels > 1 ? 3 : 2; }

/// The part of the dataset that the chosen frames are, if they become an array of `count` axes:
/// nothing where frames of several axes become those of one.
std::optional<DatasetPart> part_of_frames(const FrameSource& source, std::size_t count) {
    const std::vector<std::int64_t>& shape = source.reader->info().array.shape;
    const std::size_t lead = shape.size() - axes_of_frame(source);
    DatasetPart part{std::vector<std::int64_t>(shape.size(), 0), shape};
    if (count == axes_of_frame(source)) {
        std::int64_t frame = source.frames[0];
        for (std::size_t axis = lead; axis-- > 0; frame /= shape[axis]) {
            part.first[axis] = frame % shape[axis];
            part.count[axis] = 1;
            part.dropped.insert(part.dropped.begin(), axis);
        }
        return part;
    }
    if (lead != 1) {
        return std::nullopt;
    }
    part.count[0] = source.frames.count;
    for (std::int64_t i = 0; i < source.frames.count; ++i) {
        part.frames.push_back(source.frames[i]);
    }
    return part;
}

/// The axes of frames of several axes that become frames of one.
std::vector<std::int64_t> joined_frames(const FrameSource& source) {
    const std::size_t axes = source.reader->info().array.shape.size();
    std::vector<std::int64_t> kept = {-1};
    for (std::size_t axis = axes - axes_of_frame(source); axis < axes; ++axis) {
        kept.push_back(static_cast<std::int64_t>(axis));
    }
    return kept;
}

bool has_chosen_frames(const FrameSource& source, const ConvertRequest& request) {
    return request.frames || source.content == Content::sand;
}

/// The metadata of the chosen frames.
Metadata metadata_of_frames(const Metadata& whole, const FrameSource& source,
                            const std::vector<std::int64_t>& shape) {
    if (const std::optional<DatasetPart> part = part_of_frames(source, shape.size())) {
        return metadata_of_part(whole, *part);
    }
    Likeness like{Likeness::Values::same, {}, shape};
    for (const std::int64_t axis : joined_frames(source)) {
        like.axes.push_back({axis, 1});
    }
    return carried_metadata(whole, like);
}

/// Elements of another type are the same values in the same unit. What names a value in the old
/// type does not hold.
Metadata of_other_type(const Metadata& metadata) {
    Metadata made =
        carried_metadata(metadata, Likeness::in_place(Likeness::Values::alike, metadata.shape));
    for (const std::string_view name : {"_FillValue", "missing_value"}) {
        if (std::any_of(metadata.dataset.begin(), metadata.dataset.end(),
                        [&](const NamedValue& each) { return each.name == name; })) {
            made.left_out.push_back("the dataset@" + std::string(name) +
                                    ": the elements have another type");
        }
    }
    return made;
}

} // namespace

OutputDataset converted_dataset(const FrameSource& source, const ConvertRequest& request,
                                const std::string& file) {
    const ArrayInfo& array = source.reader->info().array;
    const bool is_sand = source.content == Content::sand;
    OutputDataset output{file, request.output_dataset, array, request.layout};
    output.invalid_value = source.reader->info().invalid_value;
    if (request.frames || is_sand) {
        output.array.shape = {source.image.height, source.image.width};
        if (is_sand || request.frames->count == FrameChoice::Count::several) {
            output.array.shape.insert(output.array.shape.begin(), source.frames.count);
        }
        if (source.image.channels > 1) {
            output.array.shape.push_back(source.image.channels);
        }
    }
    output.axes = converted_axes(source, request, output.array.shape);
    output.layout.format = written_format_of(request.output);
    output.layout.channels = source.image.channels;
    return output;
}

Axes converted_axes(const FrameSource& source, const ConvertRequest& request,
                    const std::vector<std::int64_t>& shape) {
    if (!has_chosen_frames(source, request)) {
        return request.axes;
    }
    const std::vector<std::int64_t>& whole = source.reader->info().array.shape;
    if (request.axes.each.size() < axes_of_frame(source) ||
        request.axes.each.size() != whole.size()) {
        return {};
    }
    if (const std::optional<DatasetPart> part = part_of_frames(source, shape.size())) {
        return axes_of_part(request.axes, *part);
    }
    std::vector<AxisOrigin> kept;
    for (const std::int64_t axis : joined_frames(source)) {
        kept.push_back({axis});
    }
    return moved_axes(request.axes, kept);
}

namespace {

/// Names the leading axes that are known, if frames of several of them become those of one.
std::string joined_names(const FrameSource& source, const ConvertRequest& request,
                         const OutputDataset& output) {
    const std::size_t axes = source.reader->info().array.shape.size();
    const std::vector<Axis>& each = request.axes.each;
    if (!has_chosen_frames(source, request) || each.size() != axes ||
        part_of_frames(source, output.array.shape.size())) {
        return "";
    }
    bool is_known = false;
    std::string names;
    for (std::size_t axis = 0; axis + axes_of_frame(source) < axes; ++axis) {
        is_known = is_known || each[axis] != Axis{};
        names += (names.empty() ? "" : ", ") + (each[axis].name.empty() ? "?" : each[axis].name);
    }
    return is_known ? "the axes " + names + ", of which frames were taken as one" : "";
}

/// Whether the input's attributes are among the metadata.
bool has_attributes(const FrameSource& source, const ConvertRequest& request) {
    return source.content != Content::sand && rows_format_of(request.input) == nullptr &&
           !request.raw;
}

/// What the input says of invalid elements elsewhere than in attributes that are metadata.
std::vector<std::string> other_marks(const FrameSource& source, const ConvertRequest& request) {
    constexpr std::array<std::string_view, 3> attributes = {
        "_FillValue = ", "missing_value = ", "beyond "};
    std::vector<std::string> marks;
    std::copy_if(source.reader->info().invalid.begin(), source.reader->info().invalid.end(),
                 std::back_inserter(marks), [&](const std::string& mark) {
                     return !has_attributes(source, request) ||
                            std::none_of(
                                attributes.begin(), attributes.end(),
                                [&](std::string_view name) { return mark.starts_with(name); });
                 });
    return marks;
}

/// Says in an HDF5 output which elements are invalid, by netCDF's `_FillValue`, where one number
/// is all that the input says, and no attribute.
void state_invalid(const FrameSource& source, const std::vector<std::string>& marks, bool is_hdf5,
                   Metadata& metadata) {
    const DatasetInfo& info = source.reader->info();
    if (const std::optional<ErrorText> differing = differing_marks(marks, "")) {
        metadata.left_out.push_back("which elements are invalid, " + differing->why);
        return;
    }
    const bool is_number = info.invalid_value && info.masks.empty() && marks == info.invalid;
    if (marks.empty() || !is_hdf5 || source.has_other_type || !is_number) {
        for (const std::string& mark : marks) {
            metadata.left_out.push_back("which elements are invalid, " + mark);
        }
        return;
    }
    PlainValue value;
    value.type = info.array.type;
    value.bytes.resize(static_cast<std::size_t>(size_of(value.type)));
    visit_element_type(value.type, [&](auto element) {
        using T = decltype(element);
        constexpr T most = std::numeric_limits<T>::max(); // of 64 bits, no double is equal to it
        const bool is_most = *info.invalid_value >= static_cast<double>(most);
        element = is_most && std::is_integral_v<T> ? most : static_cast<T>(*info.invalid_value);
        std::memcpy(value.bytes.data(), &element, sizeof(element));
    });
    metadata.dataset.push_back({"_FillValue", std::move(value)});
}

} // namespace

Metadata converted_metadata(const FrameSource& source, const ConvertRequest& request,
                            const OutputDataset& output) {
    const bool said = has_attributes(source, request);
    Metadata metadata;
    if (said) {
        metadata = request.metadata;
        if (metadata.shape != source.reader->info().array.shape) {
            std::vector<std::string> left_out = std::move(metadata.left_out);
            metadata = {};
            metadata.shape = source.reader->info().array.shape;
            metadata.left_out = std::move(left_out);
        }
        if (has_chosen_frames(source, request)) {
            metadata = metadata_of_frames(metadata, source, output.array.shape);
        }
        if (source.has_other_type) {
            metadata = of_other_type(metadata);
        }
    }
    const std::vector<std::string>& unkept = source.reader->info().unkept;
    metadata.left_out.insert(metadata.left_out.end(), unkept.begin(), unkept.end());
    if (std::string names = joined_names(source, request, output); !names.empty()) {
        metadata.left_out.push_back(std::move(names));
    }
    metadata.shape = output.array.shape;
    state_invalid(source, other_marks(source, request), output.layout.is_hdf5(), metadata);
    if (!said || metadata.empty() || !output.layout.is_hdf5()) {
        metadata.placement = output.axes;
    }
    const bool is_placed = metadata.placement.known();
    set_axes(metadata,
             is_placed || !lacks_spacing(metadata, output.axes) ? metadata.placement : output.axes);
    if (!is_placed) {
        keep_names(metadata, output.axes);
        Axes axes = output.axes;
        axes.each.resize(output.array.shape.size());
        keep_marked_names(metadata, axes, output.layout.channels.value_or(1));
    }
    return metadata;
}

std::vector<std::string> lost_in_conversion(const FrameSource& source,
                                            const ConvertRequest& request,
                                            const OutputDataset& output,
                                            std::vector<std::string> lost) {
    const Metadata metadata = converted_metadata(source, request, output);
    for (const std::vector<std::string>& more :
         {lost_metadata(metadata, output.axes), metadata.left_out}) {
        lost.insert(lost.end(), more.begin(), more.end());
    }
    return lost;
}

void warn_of(const std::vector<std::string>& lost, const FrameSource& source,
             const ConvertRequest& request) {
    if (request.warn && !lost.empty()) {
        request.warn(lost_text(printable(source.where), lost));
    }
}

} // namespace runner
