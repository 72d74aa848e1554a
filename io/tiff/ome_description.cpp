// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/units.hpp"
#include "io/tiff/tiff_description.hpp"
#include "io/tiff/written_axes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr const char* other_formats = "End the output's name in .h5, .npy or .tif";

std::string_view type_name(ElementType type) {
    switch (type) {
    case ElementType::float32: return "float";
    case ElementType::float64: return "double";
    case ElementType::int64:
    case ElementType::uint64:
        throw Error(ExitCode::usage,
                    {"cannot make an OME-TIFF", std::string(name_of(type)),
                     "OME has integers of 8, 16 and 32 bits, float32 and float64", other_formats});
    default: return name_of(type);
    }
}

/// Gives each axis that counts pages a letter of its own. Returns what nothing says of them, for
/// people: of one axis it is no matter which it is.
std::vector<std::string> name_pages(WrittenAxes& axes, const TiffImage& image) {
    if (axes.pages.size() > 3) {
        throw Error(ExitCode::usage,
                    {"cannot make an OME-TIFF", shape_text(image.leading),
                     "OME has t, c and z before the axes of an image, and there are more axes",
                     other_formats});
    }
    const std::string_view wanted = axes.pages.size() < 3 ? "ztc" : "zct";
    const bool guesses = axes.pages.size() > 1 && axes.find('?') != nullptr;
    for (std::size_t i = axes.pages.size(); i-- > 0;) {
        WrittenAxis& axis = axes.pages[i];
        for (std::size_t j = 0; axis.letter == '?' && j < wanted.size(); ++j) {
            axis.letter = axes.find(wanted[j]) == nullptr ? wanted[j] : '?';
        }
    }
    if (!guesses) {
        return {};
    }
    std::string letters;
    for (const WrittenAxis& axis : axes.pages) {
        letters += std::string(1, axis.letter) + ", ";
    }
    return {"the names of axes, which nothing says: they are taken for " + letters +
            "y, x, and input.axes of a job says others"};
}

/// XYZCT: what runs fastest first, and then what is not there.
std::string order_text(const WrittenAxes& axes) {
    std::string order = "XY";
    for (auto axis = axes.pages.rbegin(); axis != axes.pages.rend(); ++axis) {
        order += static_cast<char>(axis->letter - 'a' + 'A');
    }
    for (const char letter : {'Z', 'C', 'T'}) {
        order += order.find(letter) == std::string::npos ? std::string(1, letter) : "";
    }
    return order;
}

std::int64_t extent_of(const WrittenAxes& axes, char letter) {
    const WrittenAxis* const axis = axes.find(letter);
    return axis == nullptr ? 1 : axis->extent;
}

/// A size with its unit, one of the schema's.
std::string physical_size_text(WrittenAxes& axes, const WrittenAxis* axis, char letter) {
    constexpr std::array units = {std::pair(1.0, "m"),   std::pair(1e-2, "cm"),
                                  std::pair(1e-3, "mm"), std::pair(1e-6, "\u00b5m"),
                                  std::pair(1e-9, "nm"), std::pair(1e-10, "\u00c5"),
                                  std::pair(1e-12, "pm")};
    if (axis == nullptr || !axis->at.spacing) {
        return "";
    }
    const std::optional<double> metres = metres_in(axis->at.unit);
    if (!metres && !axis->at.unit.empty()) {
        return "";
    }
    axes.say_spacing(*axis);
    std::string_view name = "reference frame"; // which stands for no unit
    for (const auto& [size, unit] : units) {
        name = size == metres ? unit : name;
    }
    return fmt::format(" PhysicalSize{0}=\"{1}\" PhysicalSize{0}Unit=\"{2}\"", letter,
                       *axis->at.spacing, name);
}

std::string interval_text(WrittenAxes& axes) {
    const WrittenAxis* const t = axes.find('t');
    const auto seconds = t == nullptr ? std::nullopt : WrittenAxes::seconds(*t);
    if (!seconds) {
        return "";
    }
    axes.say_spacing(*t);
    return fmt::format(" TimeIncrement=\"{}\" TimeIncrementUnit=\"s\"", *seconds);
}

/// ` Name="DAPI"` for each channel; empty texts where names are not known.
std::vector<std::string> name_texts(WrittenAxes& axes, const Axes& known, std::int64_t channels) {
    constexpr std::array marks = {std::pair('&', "&amp;"), std::pair('<', "&lt;"),
                                  std::pair('>', "&gt;"), std::pair('"', "&quot;")};
    std::vector<std::string> texts(static_cast<std::size_t>(channels));
    const WrittenAxis* const c = axes.find('c');
    if (known.channels.size() != texts.size() || (c != nullptr && c->at.name != "c")) {
        return texts;
    }
    axes.say_channels();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (known.channels[i].empty()) {
            continue;
        }
        texts[i] = " Name=\"";
        for (const char letter : known.channels[i]) {
            const auto* const mark = std::find_if(
                marks.begin(), marks.end(), [&](const auto& each) { return each.first == letter; });
            texts[i] += mark == marks.end() ? std::string(1, letter) : mark->second;
        }
        texts[i] += '"';
    }
    return texts;
}

/// ` Color="-16776961"` for each channel: red, green, blue and alpha in the bytes of a number with
/// a sign; empty texts where colours are not known.
std::vector<std::string> colour_texts(WrittenAxes& axes, const Axes& known, std::int64_t channels) {
    std::vector<std::string> texts(static_cast<std::size_t>(channels));
    const WrittenAxis* const c = axes.find('c');
    if (known.colours.size() != texts.size() || (c != nullptr && c->at.name != "c")) {
        return texts;
    }
    axes.say_channels();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string& colour = known.colours[i];
        std::uint32_t rgb = 0;
        const auto [end, failure] =
            std::from_chars(colour.data(), colour.data() + colour.size(), rgb, 16);
        if (failure == std::errc{} && colour.size() == 6) {
            texts[i] = fmt::format(" Color=\"{}\"", static_cast<std::int32_t>(rgb << 8U | 0xffU));
        }
    }
    return texts;
}

/// ` EmissionWavelength="461"`, in nm, for each channel; empty texts where they are not known.
std::vector<std::string> wavelength_texts(WrittenAxes& axes, const Axes& known,
                                          std::int64_t channels) {
    std::vector<std::string> texts(static_cast<std::size_t>(channels));
    const WrittenAxis* const c = axes.find('c');
    if (c != nullptr && c->at.name != "c") {
        return texts;
    }
    for (const auto& [key, list] :
         {std::pair("Excitation", &Axes::excitations), std::pair("Emission", &Axes::emissions)}) {
        if ((known.*list).size() != texts.size()) {
            continue;
        }
        axes.say_channels();
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::string& length = (known.*list)[i];
            if (!length.empty() && length.find_first_not_of("0123456789.e+-") == length.npos) {
                texts[i] += fmt::format(" {}Wavelength=\"{}\"", key, length);
            }
        }
    }
    return texts;
}

} // namespace

TiffDescription ome_description(const TiffImage& image, const OutputDataset& output) {
    constexpr const char* schema = "http://www.openmicroscopy.org/Schemas/OME/2016-06";
    WrittenAxes axes(image, output);
    std::vector<std::string> left_out = name_pages(axes, image);
    const std::int64_t channels = extent_of(axes, 'c');
    std::string xml = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<OME xmlns=\"{0}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
        "xsi:schemaLocation=\"{0} {0}/ome.xsd\" Creator=\"runner\">\n"
        "<Image ID=\"Image:0\" Name=\"Image\">\n"
        "<Pixels ID=\"Pixels:0\" DimensionOrder=\"{1}\" Type=\"{2}\" BigEndian=\"false\" "
        "SizeX=\"{3}\" SizeY=\"{4}\" SizeZ=\"{5}\" SizeC=\"{6}\" SizeT=\"{7}\"",
        schema, order_text(axes), type_name(image.type), image.width, image.height,
        extent_of(axes, 'z'), channels * image.samples, extent_of(axes, 't'));
    xml += physical_size_text(axes, &axes.x, 'X') + physical_size_text(axes, &axes.y, 'Y') +
           physical_size_text(axes, axes.find('z'), 'Z') + interval_text(axes) + ">\n";
    const std::vector<std::string> names = name_texts(axes, output.axes, channels);
    const std::vector<std::string> colours = colour_texts(axes, output.axes, channels);
    const std::vector<std::string> wavelengths = wavelength_texts(axes, output.axes, channels);
    for (std::size_t channel = 0; channel < names.size(); ++channel) {
        xml += fmt::format("<Channel ID=\"Channel:0:{}\"{}{}{} SamplesPerPixel=\"{}\"/>\n", channel,
                           names[channel], colours[channel], wavelengths[channel], image.samples);
    }
    xml += fmt::format("<TiffData IFD=\"0\" PlaneCount=\"{}\"/>\n</Pixels>\n</Image>\n</OME>",
                       image.pages());
    const std::vector<std::string> others = axes.left_out(WrittenAxes::Letters::said);
    left_out.insert(left_out.end(), others.begin(), others.end());
    return {{std::move(xml), std::nullopt}, std::move(left_out)};
}

} // namespace runner
