// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/ome_planes.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "io/tiff/start_tags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t most_planes = 1 << 24;

bool may_be_ome(std::string_view description) {
    return description.substr(0, 4096).find("OME") != std::string_view::npos;
}

/// Extents of z, c and t, and how a plane's number counts them.
struct PlaneOrder {
    std::array<std::int64_t, 3> extent = {1, 1, 1}; ///< of z, c and t
    std::array<std::size_t, 3> axis = {0, 1, 2};    ///< the fastest first

    std::int64_t planes() const { return extent[0] * extent[1] * extent[2]; }
    std::int64_t number(const std::array<std::int64_t, 3>& at) const {
        return at[axis[0]] + extent[axis[0]] * (at[axis[1]] + extent[axis[1]] * at[axis[2]]);
    }
};

/// The extents and the order that a Pixels element says.
std::optional<PlaneOrder> order_of(const StartTags& pixels, int samples) {
    PlaneOrder order;
    constexpr std::array<std::string_view, 3> sizes = {"SizeZ", "SizeC", "SizeT"};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        order.extent.at(i) = pixels.number(sizes.at(i)).value_or(0);
        if (order.extent.at(i) < 1 || order.extent.at(i) > most_planes) {
            return std::nullopt;
        }
    }
    // Samples of one pixel count as channels, and are in one page.
    if (order.extent[1] % samples != 0) {
        return std::nullopt;
    }
    order.extent[1] /= samples;
    const std::string_view text = pixels.text("DimensionOrder").value_or("");
    if (!text.starts_with("XY") || text.size() != 5 ||
        order.extent[0] * order.extent[1] > most_planes ||
        order.extent[0] * order.extent[1] * order.extent[2] > most_planes) {
        return std::nullopt;
    }
    std::array<bool, 3> seen{};
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t axis = std::string_view("ZCT").find(text[i + 2]);
        if (axis == std::string_view::npos || seen.at(axis)) {
            return std::nullopt;
        }
        seen.at(axis) = true;
        order.axis.at(i) = axis;
    }
    return order;
}

/// A TiffData element: planes one after the other in a file.
struct TiffData {
    std::int64_t plane = 0;
    std::int64_t directory = 0;
    std::int64_t count = 1;
    std::string file; ///< empty: this one
    std::string uuid; ///< of the file
};

std::optional<TiffData> data_of(const StartTags& element, const PlaneOrder& order, int samples) {
    const std::array<std::int64_t, 3> first = {element.number("FirstZ").value_or(0),
                                               element.number("FirstC").value_or(0) / samples,
                                               element.number("FirstT").value_or(0)};
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (first.at(i) >= order.extent.at(i)) {
            return std::nullopt;
        }
    }
    TiffData data;
    data.plane = order.number(first);
    const std::optional<std::int64_t> directory = element.number("IFD");
    data.directory = directory.value_or(0);
    const std::int64_t left = order.planes() - data.plane;
    data.count = std::min(left, element.number("PlaneCount").value_or(directory ? 1 : left));
    return data;
}

/// An image of the XML; without an order, one whose extents cannot be, or are not of these samples.
struct OmeImage {
    std::optional<PlaneOrder> order;
    std::vector<TiffData> data;
};

/// Nothing where a TiffData element cannot be, or there are too many.
std::optional<std::vector<OmeImage>> images_of(std::string_view description, int samples) {
    std::vector<OmeImage> images;
    std::int64_t count = 0;
    StartTags tags(description);
    while (tags.next()) {
        if (tags.name() == "Pixels" && tags.is_start()) {
            images.push_back({order_of(tags, samples), {}});
        } else if (images.empty() || !images.back().order) {
            continue;
        } else if (tags.name() == "TiffData" && tags.is_start()) {
            std::optional<TiffData> data = data_of(tags, *images.back().order, samples);
            if (!data || ++count > most_planes) {
                return std::nullopt;
            }
            images.back().data.push_back(*std::move(data));
        } else if (tags.name() == "UUID" && !images.back().data.empty() && tags.is_start()) {
            images.back().data.back().file = std::string(tags.text("FileName").value_or(""));
            images.back().data.back().uuid = std::string(tags.content());
        }
    }
    if (images.size() == 1 && images[0].order && images[0].data.empty()) {
        images[0].data.push_back({0, 0, images[0].order->planes(), "", ""});
    }
    return images;
}

/// The names of the files that hold planes; "" is the one with the XML.
std::set<std::string> files_of(const std::vector<OmeImage>& images) {
    std::set<std::string> names;
    for (const OmeImage& image : images) {
        for (const TiffData& data : image.data) {
            names.insert(data.file);
        }
    }
    return names;
}

/// The file that is read: by its name, and the UUID that its OME-XML gives it, by which a renamed
/// one is known.
struct OmeFile {
    std::string name;
    std::string uuid;
};

std::string uuid_of(std::string_view description) {
    for (StartTags tags(description); tags.next();) {
        if (tags.name() == "OME" && tags.is_start()) {
            return std::string(tags.text("UUID").value_or(""));
        }
    }
    return "";
}

/// Where the planes of an image are. A file that alone is named is this one, whose name may have
/// changed since.
OmePlanes planes_of(const OmeImage& image, std::set<std::string> names, const OmeFile& file,
                    std::int64_t chain) {
    OmePlanes planes;
    planes.planes = image.order->planes();
    planes.directories.assign(static_cast<std::size_t>(planes.planes), -1);
    const bool is_named = names.contains(file.name);
    for (const TiffData& data : image.data) {
        const bool is_here =
            data.file.empty() ||
            (is_named ? data.file == file.name : data.uuid == file.uuid && !file.uuid.empty());
        if (names.size() > 1 && !is_here) {
            continue;
        }
        for (std::int64_t i = 0; i < data.count && data.directory + i < chain; ++i) {
            planes.directories[static_cast<std::size_t>(data.plane + i)] = data.directory + i;
        }
    }
    if (names.size() > 1) {
        names.erase("");
        names.erase(file.name);
        planes.other_files = {names.begin(), names.end()};
    }
    return planes;
}

bool has_planes_here(const OmePlanes& planes) {
    return std::any_of(planes.directories.begin(), planes.directories.end(),
                       [](std::int64_t directory) { return directory >= 0; });
}

/// A text of XML as it is meant: with the five names and the numbers of characters below 256.
std::string plain_text(std::string_view xml) {
    constexpr std::array names = {std::pair("lt;", "<"),        std::pair("gt;", ">"),
                                  std::pair("amp;", "&"),       std::pair("quot;", "\""),
                                  std::pair("apos;", "'"),      std::pair("#181;", "\u00b5"),
                                  std::pair("#xB5;", "\u00b5"), std::pair("#xb5;", "\u00b5")};
    std::string text;
    while (!xml.empty()) {
        const std::size_t at = std::min(xml.find('&'), xml.size());
        text += xml.substr(0, at);
        xml.remove_prefix(at);
        if (xml.empty()) {
            break;
        }
        const auto* const found = std::find_if(names.begin(), names.end(), [&](const auto& each) {
            return xml.substr(1).starts_with(each.first);
        });
        text += found == names.end() ? "&" : found->second;
        xml.remove_prefix(found == names.end() ? 1 : 1 + std::string_view(found->first).size());
    }
    return text;
}

/// An axis whose spacing and unit are in these attributes of a Pixels element.
Axis axis_of(const StartTags& pixels, const char* name, const std::string& key,
             const char* usual_unit) {
    Axis axis{name};
    const std::string_view text = pixels.text(key).value_or("");
    double spacing = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), spacing);
    if (failure == std::errc{} && end == text.data() + text.size() && spacing > 0) {
        axis.spacing = spacing;
        axis.unit = plain_unit(plain_text(pixels.text(key + "Unit").value_or(usual_unit)));
        if (axis.unit == "reference frame" || axis.unit == "pixel") { // OME's words for none
            axis.unit.clear();
        }
    }
    return axis;
}

/// The colour of a Channel element, a number with a sign whose bytes are red, green, blue and
/// alpha; empty where it has none.
std::string colour_of(const StartTags& channel) {
    const std::string_view text = channel.text("Color").value_or("");
    std::int32_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failure == std::errc{} && !text.empty() && end == text.data() + text.size()
               ? fmt::format("{:06X}", static_cast<std::uint32_t>(number) >> 8U)
               : "";
}

/// A wavelength of a Channel element in nm; empty where it has none.
std::string wavelength_of(const StartTags& channel, const std::string& key) {
    const std::string_view text = channel.text(key).value_or("");
    double length = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
    const std::optional<double> metres =
        metres_in(plain_unit(plain_text(channel.text(key + "Unit").value_or("nm"))));
    if (failure != std::errc{} || end != text.data() + text.size() || !(length > 0) || !metres) {
        return "";
    }
    constexpr double nanometre = 1e-9;
    return fmt::format("{:.6g}", length * (*metres / nanometre));
}

/// What an element says that no output has: by itself, or by an attribute.
struct Fact {
    const char* element;
    const char* key; ///< of the attribute; "": the element itself
    const char* words;
};
constexpr std::array facts = {Fact{"Description", "", "the description"},
                              Fact{"AcquisitionDate", "", "the date"},
                              Fact{"Instrument", "", "the instrument"},
                              Fact{"StageLabel", "", "the stage's label"},
                              Fact{"ROI", "", "the regions of interest"},
                              Fact{"XMLAnnotation", "", "the annotations"},
                              Fact{"DetectorSettings", "", "the settings of channels"},
                              Fact{"LightSourceSettings", "", "the settings of channels"},
                              Fact{"Channel", "AcquisitionMode", "the settings of channels"},
                              Fact{"Channel", "ContrastMethod", "the settings of channels"},
                              Fact{"Channel", "Fluor", "the dyes of channels"},
                              Fact{"Plane", "DeltaT", "the times of planes"},
                              Fact{"Plane", "ExposureTime", "the exposure times of planes"},
                              Fact{"Plane", "PositionX", "the positions of planes"},
                              Fact{"Plane", "PositionY", "the positions of planes"},
                              Fact{"Plane", "PositionZ", "the positions of planes"}};

/// Whether the name of an image is none as programs give it by themselves, "Image0" or "Image:0".
bool is_own_name(std::string_view name) {
    constexpr std::string_view usual = "Image";
    const std::string_view rest = name.starts_with(usual) ? name.substr(usual.size()) : name;
    return rest.find_first_not_of(" :0123456789") != std::string_view::npos;
}

} // namespace

std::optional<OmeAxes> ome_axes(std::string_view description, int samples, std::int64_t image) {
    if (!may_be_ome(description)) {
        return std::nullopt;
    }
    std::optional<OmeAxes> found;
    StartTags tags(description);
    while (tags.next() && image >= 0) {
        if (tags.name() == "Pixels" && tags.is_start() && image > 0) {
            --image;
        } else if (tags.name() == "Pixels" && tags.is_start() && !found) {
            const std::optional<PlaneOrder> order = order_of(tags, samples);
            if (!order) {
                return std::nullopt;
            }
            found.emplace();
            const std::array<Axis, 3> axes = {axis_of(tags, "z", "PhysicalSizeZ", "um"), Axis{"c"},
                                              axis_of(tags, "t", "TimeIncrement", "s")};
            for (std::size_t i = 3; i-- > 0;) {
                found->leading.push_back(axes.at(order->axis.at(i)));
                found->extents.push_back(order->extent.at(order->axis.at(i)));
            }
            found->y = axis_of(tags, "y", "PhysicalSizeY", "um");
            found->x = axis_of(tags, "x", "PhysicalSizeX", "um");
        } else if (tags.name() == "Pixels" && found) {
            break;
        } else if (tags.name() == "Channel" && found && tags.is_start()) {
            found->channels.push_back(plain_text(tags.text("Name").value_or("")));
            found->colours.push_back(colour_of(tags));
            found->emissions.push_back(wavelength_of(tags, "EmissionWavelength"));
            found->excitations.push_back(wavelength_of(tags, "ExcitationWavelength"));
        }
    }
    return found;
}

std::optional<OmePlanes> ome_planes(std::string_view description, const std::string& file,
                                    int samples, std::int64_t chain) {
    if (!may_be_ome(description)) {
        return std::nullopt;
    }
    const std::optional<std::vector<OmeImage>> images = images_of(description, samples);
    if (!images || images->empty()) {
        return std::nullopt;
    }
    const OmeFile name{std::filesystem::path(file).filename().string(), uuid_of(description)};
    const std::set<std::string> names = files_of(*images);
    std::optional<OmePlanes> found;
    std::int64_t here = 0;
    for (std::size_t i = 0; i < images->size(); ++i) {
        if (!(*images)[i].order) {
            ++here; // where its planes are is not known
            continue;
        }
        OmePlanes planes = planes_of((*images)[i], names, name, chain);
        const bool is_here = images->size() == 1 || has_planes_here(planes);
        if (is_here && !found) {
            found = std::move(planes);
            found->image = static_cast<std::int64_t>(i);
        }
        here += is_here ? 1 : 0;
    }
    if (found) {
        found->images = here;
    }
    return found;
}

std::string ome_master(std::string_view description) {
    StartTags tags(description);
    while (may_be_ome(description) && tags.next()) {
        if (tags.name() == "BinaryOnly" && tags.is_start()) {
            return printable(plain_text(tags.text("MetadataFile").value_or("another file")));
        }
    }
    return "";
}

std::vector<std::string> ome_unkept(std::string_view description, std::int64_t image) {
    std::vector<std::string> found;
    const auto add = [&](const char* name) {
        if (std::find(found.begin(), found.end(), name) == found.end()) {
            found.emplace_back(name);
        }
    };
    std::int64_t number = -1;
    bool is_of_other = false; // what is outside of images is of all
    for (StartTags tags(description); tags.next();) {
        if (tags.name() == "Image") {
            is_of_other = tags.is_start() && ++number != image;
        }
        if (is_of_other || !tags.is_start()) {
            continue;
        }
        if (tags.name() == "Image" && is_own_name(tags.text("Name").value_or(""))) {
            add("the name of the image");
        }
        const auto is_lost = [&](const char* size, const char* spacing) {
            return tags.name() == "Pixels" && tags.number(size) == 1 && tags.text(spacing);
        };
        if (is_lost("SizeZ", "PhysicalSizeZ")) {
            add("the size of a pixel along z");
        }
        if (is_lost("SizeT", "TimeIncrement")) {
            add("the time between frames");
        }
        for (const Fact& fact : facts) {
            if (tags.name() == fact.element && (*fact.key == '\0' || tags.text(fact.key))) {
                add(fact.words);
            }
        }
    }
    return found;
}

} // namespace runner
