// SPDX-License-Identifier: BSD-3-Clause
#include "io/tiff/tiff_axes.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "io/tiff/ome_planes.hpp"
#include "io/tiff/tiff_planes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tiffio.h>

namespace runner {
namespace {

/// Axes that count pages, the slowest first.
struct LeadingAxes {
    std::vector<std::int64_t> extents = {};
    Axes axes = {};
    std::string y = "y"; ///< what the lines and columns of a page are
    std::string x = "x";

    /// Without an axis of one element.
    void add(std::int64_t extent, Axis axis) {
        if (extent > 1) {
            extents.push_back(extent);
            axes.each.push_back(std::move(axis));
        }
    }
    std::int64_t pages() const {
        std::int64_t product = 1;
        for (const std::int64_t extent : extents) {
            product = product > INT64_MAX / extent ? 0 : product * extent;
        }
        return product;
    }
};

/// What stands behind `key` in a line of ImageJ's description; empty where there is no such line.
std::string_view imagej_text(std::string_view description, std::string_view key) {
    for (std::size_t at = 0; at < description.size();) {
        const std::size_t end = std::min(description.find('\n', at), description.size());
        std::string_view line = description.substr(at, end - at);
        line.remove_suffix(line.ends_with('\r') ? 1 : 0);
        if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) {
            return line.substr(key.size() + 1);
        }
        at = end + 1;
    }
    return {};
}

template <class T> std::optional<T> number_of(std::string_view text) {
    T number{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failure == std::errc{} && end != text.data() ? std::optional(number) : std::nullopt;
}

/// The unit of an axis of space, under the key that ImageJ has where it is not that of x.
std::string imagej_unit(std::string_view description, std::string_view key) {
    const std::string_view own = imagej_text(description, key);
    return plain_unit(printable(own.empty() ? imagej_text(description, "unit") : own));
}

/// The unit of time, which is the second where ImageJ does not say it.
std::string imagej_time_unit(std::string_view description) {
    const std::string unit = printable(imagej_text(description, "tunit"));
    return unit.empty() || seconds_in(unit) == 1.0 ? "s" : unit;
}

/// Where the first element is: ImageJ says the place of 0, in elements.
std::optional<double> imagej_origin(std::string_view description, std::string_view key,
                                    std::optional<double> spacing) {
    const std::optional<double> zero = number_of<double>(imagej_text(description, key));
    return zero && *zero != 0 && spacing ? std::optional(-*zero * *spacing) : std::nullopt;
}

/// The axis of lines or of columns. ImageJ has lengths of its own unit in the tags of resolution;
/// without one they are those of a screen.
Axis imagej_axis(std::string_view description, const char* name, std::string_view unit_key,
                 std::optional<double> spacing) {
    Axis axis{name};
    if (std::string unit = imagej_unit(description, unit_key); metres_in(unit)) {
        axis.unit = std::move(unit);
        axis.spacing = spacing;
        axis.origin = imagej_origin(description, axis.name + "origin", spacing);
    }
    return axis;
}

/// The names of channels by the labels of planes, of which a name is what stands behind ImageJ's
/// own numbers, "c:1/3 z:1/5 - DAPI".
std::vector<std::string> channel_names(const std::vector<std::string>& labels,
                                       std::int64_t channels, std::int64_t planes) {
    if (labels.empty() || (std::ssize(labels) != planes && std::ssize(labels) != channels)) {
        return {};
    }
    std::vector<std::string> names;
    for (std::int64_t c = 0; c < std::min(channels, std::int64_t{most_imagej_labels});
         ++c) { // c runs fastest
        std::string name = labels[static_cast<std::size_t>(c)];
        if (const std::size_t at = name.find(" - ");
            name.starts_with("c:") && at != std::string::npos) {
            name.erase(0, at + 3);
        }
        if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) {
            return {};
        }
        names.push_back(std::move(name));
    }
    return names;
}

/// Whether labels say more of planes than the names of their channels.
bool names_planes(const std::vector<std::string>& labels,
                  const std::vector<std::string>& channels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const bool is_channel =
            !channels.empty() && labels[i].ends_with(channels[i % channels.size()]);
        if (!labels[i].empty() && !is_channel) {
            return true;
        }
    }
    return false;
}

/// What ImageJ says of axes of one element, which the array does not have, and of planes.
void list_unkept(std::string_view description, const std::vector<std::string>& labels,
                 const std::vector<std::string>& channels, std::vector<std::string>& unkept) {
    for (const auto& [extent, size, words] :
         {std::tuple("frames", "finterval", "the time between frames"),
          std::tuple("slices", "spacing", "the size of a pixel along z")}) {
        if (number_of<std::int64_t>(imagej_text(description, extent)).value_or(1) <= 1 &&
            number_of<double>(imagej_text(description, size)).value_or(0) != 0) {
            unkept.emplace_back(words);
        }
    }
    if (names_planes(labels, channels)) {
        unkept.emplace_back("the labels of planes");
    }
}

std::optional<LeadingAxes> imagej_axes(std::string_view description,
                                       const std::vector<std::string>& labels) {
    if (!description.starts_with("ImageJ=")) {
        return std::nullopt;
    }
    const auto extent = [&](std::string_view key) {
        return std::max<std::int64_t>(
            number_of<std::int64_t>(imagej_text(description, key)).value_or(1), 1);
    };
    Axis t{"t", imagej_time_unit(description),
           number_of<double>(imagej_text(description, "finterval"))};
    Axis z{"z", imagej_unit(description, "zunit"),
           number_of<double>(imagej_text(description, "spacing"))};
    if (!t.spacing) {
        t.unit.clear();
    }
    if (z.spacing) {
        z.spacing = std::fabs(*z.spacing); // as ImageJ takes it
        z.origin = imagej_origin(description, "zorigin", z.spacing);
    }
    if (!z.spacing || z.unit == "pixel") {
        z.unit.clear();
    }
    LeadingAxes leading;
    leading.add(extent("frames"), std::move(t));
    if (imagej_text(description, "order") == "zct") { // as this program writes it
        leading.add(extent("channels"), {"c"});
        leading.add(extent("slices"), std::move(z));
        return leading;
    }
    leading.add(extent("slices"), std::move(z));
    leading.add(extent("channels"), {"c"});
    leading.axes.channels = channel_names(labels, extent("channels"), leading.pages());
    return leading;
}

/// What stands between the brackets behind "key" in tifffile's JSON.
std::string_view json_part(std::string_view json, std::string_view key, char open, char close) {
    const std::size_t at = json.find(key);
    const std::size_t begin = at == std::string_view::npos ? at : json.find(open, at + key.size());
    const std::size_t end = begin == std::string_view::npos ? begin : json.find(close, begin + 1);
    return end == std::string_view::npos ? std::string_view()
                                         : json.substr(begin + 1, end - begin - 1);
}

/// What tifffile calls an axis; empty for one that it does not know.
std::string shaped_name(char letter) {
    letter = letter == 'S' ? 'C' : letter; // lines, columns and pages are no samples of a pixel
    const bool named = std::isupper(static_cast<unsigned char>(letter)) != 0 && letter != 'Q';
    return named ? std::string(1, static_cast<char>(letter - 'A' + 'a')) : "";
}

/// {"shape": [2, 3, 64, 64], "axes": "TCYX"}: those before the axes of a page.
std::optional<LeadingAxes> shaped_axes(std::string_view description, const TiffPages& pages) {
    if (!description.starts_with('{')) {
        return std::nullopt;
    }
    std::vector<std::int64_t> shape;
    std::string_view list = json_part(description, "\"shape\":", '[', ']');
    while (!list.empty()) {
        list.remove_prefix(std::min(list.find_first_not_of(" ,"), list.size()));
        const std::optional<std::int64_t> extent = number_of<std::int64_t>(list);
        if (!extent || *extent < 1) {
            break;
        }
        shape.push_back(*extent);
        list.remove_prefix(std::min(list.find(','), list.size()));
    }
    std::string_view letters = json_part(description, "\"axes\":", '"', '"');
    letters = letters.size() == shape.size() ? letters : std::string_view();
    std::vector<std::int64_t> page = {pages.height, pages.width};
    if (pages.depth > 1) {
        page.insert(page.begin(), pages.depth);
    }
    if (pages.samples > 1) {
        page.push_back(pages.samples);
    }
    if (shape.size() < page.size() || !std::equal(page.rbegin(), page.rend(), shape.rbegin())) {
        return std::nullopt;
    }
    LeadingAxes leading;
    for (std::size_t axis = 0; axis + page.size() < shape.size(); ++axis) {
        leading.add(shape[axis], {letters.empty() ? "" : shaped_name(letters[axis])});
    }
    if (!letters.empty()) {
        const std::size_t end = letters.size() - (pages.samples > 1 ? 1 : 0);
        leading.y = shaped_name(letters[end - 2]);
        leading.x = shaped_name(letters[end - 1]);
    }
    return leading;
}

std::optional<double> distance(const TiffHandle& tiff, std::uint32_t tag) {
    float per_unit = 0;
    return TIFFGetField(tiff.get(), tag, &per_unit) == 1 && per_unit > 0
               ? std::optional(1.0 / static_cast<double>(per_unit))
               : std::nullopt;
}

/// The axes of an image of which the pages are some planes.
void find_axes_of_set(const std::optional<LeadingAxes>& leading, const std::vector<Axis>& image,
                      TiffPages& pages) {
    if (!leading || leading->extents.empty() || pages.depth > 1) {
        pages.of_set.reset();
        return;
    }
    PlanesOfSet& set = *pages.of_set;
    set.extents = leading->extents;
    set.axes = leading->axes;
    set.axes.each.insert(set.axes.each.end(), image.begin(), image.end());
    std::vector<std::int64_t> shape = set.extents;
    shape.insert(shape.end(), {pages.height, pages.width});
    if (pages.samples > 1) {
        set.axes.each.push_back({"s"});
        shape.push_back(pages.samples);
    }
    set.axes = fitting_axes(std::move(set.axes), shape);
    if (!set.axes.known()) {
        pages.of_set.reset();
    }
}

} // namespace

Resolution resolution_of(const TiffHandle& tiff) {
    Resolution found{distance(tiff, TIFFTAG_XRESOLUTION), distance(tiff, TIFFTAG_YRESOLUTION)};
    switch (tiff.short_number(TIFFTAG_RESOLUTIONUNIT)) {
    case RESUNIT_CENTIMETER: found.unit = "cm"; break;
    case RESUNIT_INCH: found.unit = "inch"; break;
    default: break;
    }
    return found;
}

void find_axes(const PagesDescription& described, const Resolution& resolution,
               const std::vector<std::string>& labels, TiffPages& pages) {
    Axis y{"y"};
    Axis x{"x"};
    std::optional<LeadingAxes> leading;
    const std::string& description = described.text;
    if (const std::optional<OmeAxes> ome = ome_axes(description, pages.samples, described.image)) {
        leading.emplace();
        for (std::size_t i = 0; i < ome->extents.size(); ++i) {
            leading->add(ome->extents[i], ome->leading[i]);
        }
        leading->axes.channels = ome->channels;
        leading->axes.colours = ome->colours;
        leading->axes.emissions = ome->emissions;
        leading->axes.excitations = ome->excitations;
        y = ome->y;
        x = ome->x;
    } else if ((leading = imagej_axes(description, labels))) {
        const bool is_upright = imagej_text(description, "inverty") != "true";
        y = imagej_axis(description, "y", "yunit", resolution.y);
        y.origin = is_upright ? y.origin : std::nullopt;
        x = imagej_axis(description, "x", "unit", resolution.x);
        list_unkept(description, labels, leading->axes.channels, pages.unkept);
    } else if (described.stk) {
        leading.emplace();
        leading->add(pages.pages(), described.stk->planes);
        y = described.stk->y;
        x = described.stk->x;
    } else {
        leading = shaped_axes(description, pages);
        y.name = leading ? leading->y : y.name;
        x.name = leading ? leading->x : x.name;
        if (resolution.unit == "cm") { // in inches it is mostly that of a print, or of a screen
            y = {"y", "cm", resolution.y};
            x = {"x", "cm", resolution.x};
        }
    }
    if (pages.of_set) {
        find_axes_of_set(leading, {y, x}, pages);
    }
    Axes axes;
    const std::int64_t count = pages.pages();
    if (leading && leading->pages() == count) {
        axes = std::move(leading->axes);
        pages.leading = std::move(leading->extents);
        if (pages.leading.size() == 1) {
            pages.leading.clear();
        }
    } else if (count > 1) {
        axes.each.emplace_back();
    }
    if (pages.depth > 1) {
        axes.each.push_back({"z"});
    }
    axes.each.push_back(std::move(y));
    axes.each.push_back(std::move(x));
    if (pages.samples > 1) {
        axes.each.push_back({"s"});
    }
    pages.axes = fitting_axes(std::move(axes), pages.array().shape);
}

} // namespace runner
