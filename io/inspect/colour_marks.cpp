// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/colour_marks.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/inspect/attribute_list.hpp"

#include <algorithm>

namespace runner {
namespace {

bool says_no_image(const std::string& text) {
    return text == "spectrum" || text == "scaler" || text == "scalar";
}

/// The channels of NeXus' interpretations of pixels; 1 for those without colour.
std::optional<int> interpreted_channels(const std::string& text) {
    if (text == "rgb-image" || text == "hsl-image") {
        return 3;
    }
    if (text == "rgba-image" || text == "hsla-image" || text == "cmyk-image") {
        return 4;
    }
    if (text == "image" || says_no_image(text)) {
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

bool is_no_image(hid_t dataset) {
    return says_no_image(text_of_attribute(dataset, "interpretation").value_or(""));
}

std::string colour_note(hid_t dataset, std::span<const std::int64_t> shape,
                        const std::string& where) {
    const std::string text = text_of_attribute(dataset, "interpretation").value_or("");
    const int channels = interpreted_channels(text).value_or(1);
    const std::string why = fmt::format("its interpretation is \"{}\"", text);
    if (channels == 1) {
        return "";
    }
    if (shape.size() < 3 || shape.back() != channels) {
        // Samples may be along another axis, as in [3, rows, columns].
        return std::find(shape.begin(), shape.end(), channels) == shape.end()
                   ? ""
                   : format_error({"the samples of a pixel are not along the last axis", where,
                                   fmt::format("{}, and its shape is {}", why, shape_text(shape)),
                                   "That mark is not heeded; input.axes says what the axes are, as "
                                   "\"cyx\""});
    }
    if (text.starts_with("rgb")) {
        return "";
    }
    return format_error({"the samples of a pixel are not red, green and blue", where, why,
                         "Each is computed by itself, and an output says that they are red, green "
                         "and blue"});
}

std::vector<std::string> image_notes(hid_t dataset, const std::string& where) {
    std::vector<std::string> notes;
    if (text_of_attribute(dataset, "CLASS") != "IMAGE") {
        return notes;
    }
    const std::optional<AttributeValue> white = attribute_of(dataset, "IMAGE_WHITE_IS_ZERO");
    const bool is_indexed = text_of_attribute(dataset, "IMAGE_SUBCLASS") == "IMAGE_INDEXED";
    if (is_indexed || (white && one_number(*white).value_or(0) != 0)) {
        notes.push_back(format_error({"the elements are no brightness", where,
                                      is_indexed ? "they are numbers of colours (IMAGE_INDEXED)"
                                                 : "0 means white (IMAGE_WHITE_IS_ZERO)",
                                      "They are taken as they are stored"}));
    }
    const std::string corner = text_of_attribute(dataset, "DISPLAY_ORIGIN").value_or("UL");
    if (corner != "UL") {
        notes.push_back(format_error(
            {"the image is to be shown otherwise than it is stored", where,
             fmt::format("its DISPLAY_ORIGIN is \"{}\", which turns or mirrors it", corner),
             "The elements are taken as they are stored, and an output does not say it"}));
    }
    return notes;
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

std::string unmarked_colour_note(std::span<const std::int64_t> shape, const std::string& where,
                                 const std::string& taken, const std::string& try_this) {
    return format_error({"the last axis may be colour", where,
                         "its shape is " + shape_text(shape) +
                             " and the file does not say; it is taken as " + taken,
                         try_this});
}

bool is_no_colour(const Axes& axes) {
    const std::string last = axes.known() ? axes.each.back().name : "";
    return last == "x" || last == "y" || last == "z" || last == "t";
}

} // namespace runner
