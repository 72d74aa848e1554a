// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/image_shape.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/formats/rows_format.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace runner {
namespace {

int channels_of(const DatasetInfo& info, Content content) {
    const std::vector<std::int64_t>& shape = info.array.shape;
    if (content == Content::sand || shape.size() < 3) {
        return 1;
    }
    const bool like_colour = info.array.type == ElementType::uint8 && shape.back() == 3;
    return info.channels.value_or(like_colour ? 3 : 1);
}

} // namespace

std::optional<int> chosen_channels(const DatasetInfo& info, const std::optional<bool>& colour,
                                   const std::string& where) {
    const std::vector<std::int64_t>& shape = info.array.shape;
    if (colour.value_or(false) && !may_be_colour(shape)) {
        throw Error(ExitCode::usage,
                    {"the input is not colour", where,
                     "its shape is " + shape_text(shape) +
                         ", and colour has a last axis of 3 or 4 behind at least two others",
                     "Leave --colour out"});
    }
    return colour ? (*colour ? static_cast<int>(shape.back()) : 1) : info.channels;
}

ImageShape image_shape(const DatasetInfo& info, Content content, const std::string& where) {
    std::vector<std::int64_t> shape = info.array.shape;
    ImageShape image;
    image.channels = channels_of(info, content);
    if (image.channels > 1) {
        shape.pop_back();
    }
    if (shape.size() < 2) {
        throw Error(ExitCode::input, {"cannot make a picture of the dataset", where,
                                      "its shape " + shape_text(shape) + " has one axis only",
                                      "Name a dataset of two axes or more"});
    }
    image.width = shape.back();
    shape.pop_back();
    image.height = shape.back();
    shape.pop_back();
    image.frames = checked_product(shape);
    return image;
}

Content content_of(FileAccess& files, const std::string& file, const DatasetInfo& info) {
    if (info.array.type != ElementType::uint8) {
        return Content::any;
    }
    if (holds_cells(info)) {
        return Content::sand;
    }
    const AttributeList attributes = files.root_attributes(file);
    const bool said = std::any_of(attributes.begin(), attributes.end(), [](const auto& attribute) {
        const auto* value = std::get_if<std::string>(&attribute.second);
        return attribute.first == "kind" && value != nullptr && *value == cells_kind;
    });
    return said ? Content::sand : Content::any;
}

ImageShape VolumeView::image() const {
    switch (axis) {
    case 0: return {volumes * depth, height, width, 1};
    case 1: return {volumes * height, depth, width, 1};
    default: return {volumes * width, depth, height, 1};
    }
}

VolumeView view_across(const ArrayInfo& array, std::int64_t axis, const std::string& where) {
    std::vector<std::int64_t> shape = array.shape;
    const auto axes = static_cast<std::int64_t>(shape.size());
    if (axes < 3) {
        throw Error(ExitCode::input,
                    {"the dataset is no volume", where,
                     "its shape " + shape_text(shape) + " has fewer than three axes",
                     "Leave out --axis and --project"});
    }
    if (axis < axes - 3 || axis >= axes) {
        throw Error(ExitCode::usage,
                    {"there is no such axis to cut across", where,
                     fmt::format("--axis is one of its last three, {} to {}, not {}", axes - 3,
                                 axes - 1, axis),
                     "Its shape is " + shape_text(shape)});
    }
    VolumeView view;
    view.axis = static_cast<int>(axis - (axes - 3));
    view.width = shape.back();
    shape.pop_back();
    view.height = shape.back();
    shape.pop_back();
    view.depth = shape.back();
    shape.pop_back();
    view.volumes = checked_product(shape);
    return view;
}

} // namespace runner
