// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_description.hpp"

#include "base/format.hpp"
#include "io/tiff/written_axes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace runner {
namespace {

bool is_known_to_imagej(const TiffImage& image) {
    switch (image.type) {
    case ElementType::uint8: return true;
    case ElementType::int16:
    case ElementType::uint16:
    case ElementType::float32: return image.samples == 1;
    default: return false;
    }
}

/// Units of length as ImageJ names them.
std::string_view unit_name(double metres) {
    constexpr std::array names = {std::pair(1.0, "m"), std::pair(1e-2, "cm"), std::pair(1e-3, "mm"),
                                  std::pair(1e-6, "micron"), std::pair(1e-9, "nm")};
    for (const auto& [size, name] : names) {
        if (size == metres) {
            return name;
        }
    }
    return "";
}

/// The letters of the axes that count pages, the slowest first: "tzc".
std::string letters_of(const WrittenAxes& axes) {
    std::string letters;
    for (const WrittenAxis& axis : axes.pages) {
        letters += axis.letter;
    }
    return letters;
}

/// ImageJ counts t, z, c, the last one fastest; with `order=zct` the axes are t, c, z.
bool is_in_order(const std::string& letters, std::string_view order) {
    std::size_t at = 0;
    return std::all_of(letters.begin(), letters.end(), [&](char letter) {
        at = order.find(letter, at);
        return at != std::string_view::npos;
    });
}

std::string extents_text(const WrittenAxes& axes) {
    std::string text;
    for (const auto& [letter, key] :
         {std::pair('c', "channels"), {'z', "slices"}, {'t', "frames"}}) {
        if (const WrittenAxis* const axis = axes.find(letter)) {
            text += fmt::format("{}={}\n", key, axis->extent);
        }
    }
    return text;
}

/// How many of c, z and t there are; "" where they are not known, or in an order that ImageJ does
/// not know.
std::string counts_text(const WrittenAxes& axes, std::int64_t pages) {
    const std::string letters = letters_of(axes);
    const bool usual = is_in_order(letters, "tzc");
    if (letters.empty() || (!usual && !is_in_order(letters, "tcz"))) {
        return "";
    }
    std::string text = fmt::format("images={}\n", pages) + extents_text(axes);
    if (letters != "z") {
        text += "hyperstack=true\nmode=grayscale\n";
    }
    return text + (usual ? "" : "order=zct\n");
}

/// The sizes of pixels as the tags of resolution, in units of so many metres.
void set_resolution(WrittenAxes& axes, std::optional<double> metres, std::int64_t unit,
                    TiffTags& tags) {
    const std::optional<double> x = WrittenAxes::length(axes.x, metres);
    const std::optional<double> y = WrittenAxes::length(axes.y, metres);
    if (x && y) {
        tags.resolution = {1 / *x, 1 / *y, unit};
        axes.say_spacing(axes.x);
        axes.say_spacing(axes.y);
    }
}

/// Where the first element is: ImageJ has the place of 0, in pixels.
std::string origin_text(WrittenAxes& axes, const WrittenAxis& axis, const char* key) {
    if (axis.at.origin.value_or(0) == 0 || !axis.at.spacing) {
        return "";
    }
    axes.say_origin(axis);
    return fmt::format("{}={}\n", key, -*axis.at.origin / *axis.at.spacing);
}

} // namespace

TiffDescription imagej_description(const TiffImage& image, const OutputDataset& output) {
    constexpr std::int64_t own_unit = 1;
    constexpr std::int64_t centimetre = 3;
    WrittenAxes axes(image, output);
    TiffDescription made;
    if (!is_known_to_imagej(image)) {
        set_resolution(axes, 1e-2, centimetre, made.tags);
        made.left_out = axes.left_out(WrittenAxes::Letters::unsaid);
        return made;
    }
    std::optional<double> metres = axes.metres();
    if (metres && unit_name(*metres).empty()) {
        metres = 1e-6;
    }
    std::string text = counts_text(axes, image.pages());
    const bool has_counts = !text.empty();
    if (metres) {
        text += fmt::format("unit={}\n", unit_name(*metres));
    }
    const WrittenAxis* const t = axes.find('t');
    if (const auto seconds = t == nullptr ? std::nullopt : WrittenAxes::seconds(*t)) {
        text += fmt::format("finterval={}\n", *seconds);
        axes.say_spacing(*t);
    }
    const WrittenAxis* const z = axes.find('z');
    if (const auto spacing = z == nullptr ? std::nullopt : WrittenAxes::length(*z, metres)) {
        text += fmt::format("spacing={}\n", *spacing) + origin_text(axes, *z, "zorigin");
        axes.say_spacing(*z);
    }
    set_resolution(axes, metres, own_unit, made.tags);
    if (made.tags.resolution) {
        text += origin_text(axes, axes.x, "xorigin") + origin_text(axes, axes.y, "yorigin");
    }
    if (has_counts || made.tags.resolution || !text.empty()) {
        made.tags.description = "ImageJ=1.54f\n" + text + "loop=false\n";
    }
    made.left_out =
        axes.left_out(has_counts ? WrittenAxes::Letters::said : WrittenAxes::Letters::unsaid);
    return made;
}

} // namespace runner
