// SPDX-License-Identifier: BSD-3-Clause
#include "runner/image_shape.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <variant>

namespace runner {

ImageShape image_shape(const ArrayInfo& array, Content content, const std::string& where) {
    std::vector<std::int64_t> shape = array.shape;
    ImageShape image;
    if (content == Content::any && array.type == ElementType::uint8 && shape.size() >= 3 &&
        shape.back() == 3) {
        image.channels = 3;
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
    if (info.storage == sand_storage) {
        return Content::sand;
    }
    const AttributeList attributes = files.root_attributes(file);
    const bool said = std::any_of(attributes.begin(), attributes.end(), [](const auto& attribute) {
        const auto* value = std::get_if<std::string>(&attribute.second);
        return attribute.first == "kind" && value != nullptr && *value == "sand";
    });
    return said ? Content::sand : Content::any;
}

} // namespace runner
