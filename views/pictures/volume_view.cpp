// SPDX-License-Identifier: BSD-3-Clause
#include "views/pictures/volume_view.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <vector>

namespace runner {

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
