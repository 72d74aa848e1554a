// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/colour_marks.hpp"

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/attribute_list.hpp"

namespace runner {
namespace {

/// The channels of NeXus' interpretations of pixels; 1 for those without colour.
std::optional<int> interpreted_channels(const std::string& text) {
    if (text == "rgb-image" || text == "hsl-image") {
        return 3;
    }
    if (text == "rgba-image" || text == "hsla-image" || text == "cmyk-image") {
        return 4;
    }
    if (text == "image" || text == "spectrum" || text == "scaler" || text == "scalar") {
        return 1;
    }
    return std::nullopt;
}

/// https://support.hdfgroup.org/documentation/hdf5/latest/_i_m_g.html: 24-bit colour has three
/// channels, and the mode says which axis they are.
std::optional<int> image_class_channels(hid_t dataset) {
    if (text_of_attribute(dataset, "CLASS") != "IMAGE") {
        return std::nullopt;
    }
    const auto subclass = text_of_attribute(dataset, "IMAGE_SUBCLASS");
    if (subclass == "IMAGE_TRUECOLOR") {
        const auto mode = text_of_attribute(dataset, "INTERLACE_MODE");
        return mode.value_or("INTERLACE_PIXEL") == "INTERLACE_PIXEL" ? std::optional(3)
                                                                     : std::nullopt;
    }
    return subclass ? std::optional(1) : std::nullopt;
}

/// A text of the fixed length that the convention for images asks for.
void write_fixed_text(hid_t object, const std::string& file, const std::string& name,
                      const std::string& text) {
    const TypeHandle type(hdf5_must(H5Tcopy(H5T_C_S1), "H5Tcopy"));
    hdf5_must(H5Tset_size(type.get(), text.size() + 1), "H5Tset_size");
    const SpaceHandle scalar(hdf5_must(H5Screate(H5S_SCALAR), "H5Screate"));
    write_attribute(object, file, name, type.get(), scalar, text.c_str());
}

} // namespace

std::optional<int> marked_channels(hid_t dataset, std::span<const std::int64_t> shape) {
    if (shape.size() < 3) {
        return std::nullopt;
    }
    const auto text = text_of_attribute(dataset, "interpretation");
    std::optional<int> channels = text ? interpreted_channels(*text) : std::nullopt;
    if (!channels) {
        channels = image_class_channels(dataset);
    }
    return channels && *channels > 1 && *channels != shape.back() ? std::nullopt : channels;
}

std::optional<std::size_t> plane_axis(hid_t dataset, std::span<const std::int64_t> shape) {
    if (shape.size() != 3 || text_of_attribute(dataset, "CLASS") != "IMAGE" ||
        text_of_attribute(dataset, "IMAGE_SUBCLASS") != "IMAGE_TRUECOLOR") {
        return std::nullopt;
    }
    const auto mode = text_of_attribute(dataset, "INTERLACE_MODE");
    const std::size_t axis = mode == "INTERLACE_PLANE" ? 0 : mode == "INTERLACE_LINE" ? 1 : 2;
    return axis < 2 && shape[axis] == 3 ? std::optional(axis) : std::nullopt;
}

void mark_image(hid_t dataset, const std::string& file, std::span<const std::int64_t> shape,
                int channels) {
    write_text(dataset, file, "interpretation",
               channels == 1 ? "image" : (channels == 3 ? "rgb-image" : "rgba-image"));
    const bool one_grey = channels == 1 && shape.size() == 2;
    const bool one_colour = channels == 3 && shape.size() == 3;
    if (one_grey || one_colour) {
        write_fixed_text(dataset, file, "CLASS", "IMAGE");
        write_fixed_text(dataset, file, "IMAGE_VERSION", "1.2");
        write_fixed_text(dataset, file, "IMAGE_SUBCLASS",
                         one_colour ? "IMAGE_TRUECOLOR" : "IMAGE_GRAYSCALE");
    }
    if (one_colour) {
        write_fixed_text(dataset, file, "INTERLACE_MODE", "INTERLACE_PIXEL");
    }
}

bool is_no_colour(const Axes& axes) {
    const std::string last = axes.known() ? axes.each.back().name : "";
    return last == "x" || last == "y" || last == "z" || last == "t";
}

} // namespace runner
