// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/axis_marks.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/inspect/colour_marks.hpp"
#include "io/inspect/exchange_names.hpp"
#include "io/inspect/invalid_marks.hpp"
#include "io/inspect/nexus_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// The texts of an attribute; one text with colons or commas between names, as older files have it,
/// is several.
std::vector<std::string> texts_of(const std::optional<AttributeValue>& value) {
    if (const auto* const list = value ? std::get_if<std::vector<std::string>>(&*value) : nullptr) {
        return *list;
    }
    const auto* const one = value ? std::get_if<std::string>(&*value) : nullptr;
    return one != nullptr ? names_in_text(*one) : std::vector<std::string>();
}

std::vector<double> numbers_of(const std::optional<AttributeValue>& value) {
    if (const auto* const reals = value ? std::get_if<std::vector<double>>(&*value) : nullptr) {
        return *reals;
    }
    if (const auto* const whole =
            value ? std::get_if<std::vector<std::int64_t>>(&*value) : nullptr) {
        return {whole->begin(), whole->end()};
    }
    return {};
}

/// Names the axes that have none yet.
void name_axes(Axes& axes, std::vector<std::string> names) {
    for (std::string& name : names) {
        name.erase(name.find_last_not_of(' ') + 1);
    }
    for (std::size_t i = 0; names.size() == axes.each.size() && i < names.size(); ++i) {
        if (axes.each[i].name.empty() && names[i] != ".") {
            axes.each[i].name = names[i];
        }
    }
}

/// How many axes there are without that of colour.
std::size_t sized_axes(const Axes& axes) {
    return axes.each.size() - (axes.each.back().name == "s" ? 1 : 0);
}

/// The axes that a list of so many sizes speaks of: those of space, if they are as many; else the
/// last ones.
std::vector<std::size_t> axes_of_sizes(const Axes& axes, std::size_t count) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        const std::string& name = axes.each[i].name;
        if (name == "z" || name == "y" || name == "x") {
            found.push_back(i);
        }
    }
    if (found.size() != count || count == axes.each.size()) {
        found.clear();
        const std::size_t all = count == axes.each.size() ? count : sized_axes(axes);
        for (std::size_t i = all - count; i < all; ++i) {
            found.push_back(i);
        }
    }
    return found;
}

void add_sizes(Axes& axes, hid_t dataset) {
    constexpr std::array<std::string_view, 5> names = {"element_size_um", "spacing", "voxel_size",
                                                       "pixel_size", "element_size"};
    const std::vector<std::string> units = texts_of(attribute_of(dataset, "spacing_units"));
    for (const std::string_view name : names) {
        const std::vector<double> sizes = numbers_of(attribute_of(dataset, std::string(name)));
        const std::size_t all =
            sizes.size() == axes.each.size() ? axes.each.size() : sized_axes(axes);
        if (sizes.empty() || sizes.size() > all) {
            continue;
        }
        const std::vector<std::size_t> sized = axes_of_sizes(axes, sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            Axis& axis = axes.each[sized[i]];
            const bool has_units = name == "spacing" && units.size() == sizes.size();
            const std::string unit = name == "element_size_um" ? "um" : has_units ? units[i] : "";
            const bool is_known = unit.empty() && axis.spacing == sizes[i];
            if (std::isfinite(sizes[i]) && sizes[i] > 0 && !is_known) {
                axis.spacing = sizes[i];
                change_unit(axis, unit);
            }
        }
        return;
    }
}

/// First and step of numbers that are evenly apart, and rise.
struct EvenNumbers {
    double first = 0;
    double step = 0;
};

std::optional<EvenNumbers> even_numbers(hid_t dataset, std::int64_t extent) {
    constexpr std::int64_t most = 1 << 16;
    constexpr double tolerance = 1e-3; // of a step: coordinates are often float32
    if (extent < 2 || extent > most) {
        return std::nullopt;
    }
    std::vector<double> values(static_cast<std::size_t>(extent));
    if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
        return std::nullopt;
    }
    const double step = (values.back() - values.front()) / static_cast<double>(extent - 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(std::abs(values[i] - values.front() - static_cast<double>(i) * step) <=
              tolerance * step)) {
            return std::nullopt;
        }
    }
    return EvenNumbers{values.front(), step};
}

/// What coordinates stand for by netCDF's `scale_factor` and `add_offset`. Nothing where that does
/// not rise, or NeXus says it in datasets beside them.
std::optional<EvenNumbers> unpacked(const EvenNumbers& stored, hid_t dataset,
                                    const FileHandle& file, const std::string& path) {
    const auto number = [&](const char* name, double usual) {
        const std::optional<AttributeValue> value = attribute_of(dataset, name);
        return value ? one_number(*value).value_or(std::nan("")) : usual;
    };
    const double factor = number("scale_factor", 1);
    const EvenNumbers made{stored.first * factor + number("add_offset", 0), stored.step * factor};
    const bool is_said_beside =
        is_own_object(file, path + "_scaling_factor") || is_own_object(file, path + "_offset");
    const bool rises = std::isfinite(made.first) && std::isfinite(made.step) && made.step > 0;
    return rises && !is_said_beside ? std::optional(made) : std::nullopt;
}

/// Unit, spacing and origin by the coordinates of an axis, if the group has them itself and they
/// are not in chunks, which need checks before they are read.
void add_coordinates(Axis& axis, std::int64_t extent, const FileHandle& file,
                     const std::string& path) {
    if (!is_own_object(file, path)) {
        return;
    }
    const DatasetHandle dataset(H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT));
    const PropertyHandle creation(dataset.valid() ? H5Dget_create_plist(dataset.get())
                                                  : H5I_INVALID_HID);
    if (creation.valid() && H5Pget_layout(creation.get()) == H5D_CONTIGUOUS &&
        H5Pget_external_count(creation.get()) == 0) {
        place_axis(axis, extent, file, dataset, path);
    }
}

/// By the NXdata group that the dataset is in.
void add_group(Axes& axes, const FileHandle& file, const std::string& path,
               std::span<const std::int64_t> shape) {
    const std::string group = group_of_path(path);
    const ObjectHandle opened(H5Oopen(file.get(), group.c_str(), H5P_DEFAULT));
    if (!opened.valid()) {
        return;
    }
    const auto signal = text_of_attribute(opened.get(), "signal");
    if (signal && path_below(group, *signal) != path) {
        return;
    }
    name_axes(axes, texts_of(attribute_of(opened.get(), "axes")));
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        Axis& axis = axes.each[i];
        if (!axis.name.empty() && axis.name.find('/') == std::string::npos) {
            add_coordinates(axis, shape[i], file, path_below(group, axis.name));
        }
    }
    for (const auto& [name, value] : attributes_of(opened.get())) {
        constexpr std::string_view ending = "_indices";
        const std::string of = name.substr(0, name.size() - std::min(name.size(), ending.size()));
        const std::vector<double> list = numbers_of(value);
        const auto* const one = std::get_if<std::int64_t>(&value);
        const double index = one != nullptr     ? static_cast<double>(*one)
                             : list.size() == 1 ? list.front()
                                                : -1;
        if (!name.ends_with(ending) || of.empty() || path_below(group, of) == path || index < 0 ||
            index >= static_cast<double>(axes.each.size()) || axes.find(of)) {
            continue;
        }
        const auto at = static_cast<std::size_t>(index);
        if (axes.each[at].name.empty()) {
            axes.each[at].name = of;
            add_coordinates(axes.each[at], shape[at], file, path_below(group, of));
        }
    }
}

/// By the dataset's own `axes`, as older files have them: in an NXdata group they name coordinates.
void name_by_dataset(Axes& axes, const FileHandle& file, const DatasetHandle& dataset,
                     const std::string& path, std::span<const std::int64_t> shape) {
    const Axes named = axes;
    name_axes(axes, texts_of(attribute_of(dataset.get(), "axes")));
    const std::string group = group_of_path(path);
    const ObjectHandle opened(H5Oopen(file.get(), group.c_str(), H5P_DEFAULT));
    if (!opened.valid() || text_of_attribute(opened.get(), "NX_class") != "NXdata" ||
        text_of_attribute(opened.get(), "signal").value_or(path.substr(path.rfind('/') + 1)) !=
            path.substr(path.rfind('/') + 1)) {
        return;
    }
    for (std::size_t i = 0; i < axes.each.size(); ++i) {
        Axis& axis = axes.each[i];
        if (named.each[i].name.empty() && !axis.name.empty() &&
            axis.name.find('/') == std::string::npos) {
            add_coordinates(axis, shape[i], file, path_below(group, axis.name));
        }
    }
}

/// By the `axistags` of vigra and ilastik, for axes that have no name yet.
void add_tags(Axes& axes, hid_t dataset) {
    try {
        const Json tags = Json::parse(text_of_attribute(dataset, "axistags").value_or("{}"));
        const Json* const list = tags.find("axes");
        if (list == nullptr || list->values().size() != axes.each.size()) {
            return;
        }
        for (std::size_t i = 0; i < axes.each.size(); ++i) {
            const Json& tag = list->values()[i];
            const std::string key = printable(tag.value<std::string>("key", ""));
            const auto apart = tag.value<double>("resolution", 0.0);
            if (axes.each[i].name.empty() && key != "?") {
                axes.each[i].name = key;
            }
            if (axes.each[i].name == key && !axes.each[i].spacing && apart > 0) {
                axes.each[i].spacing = apart;
            }
        }
    } catch (const JsonError&) {
        return; // they are none
    }
}

constexpr const char* list_name = "DIMENSION_LIST";
/// How netCDF's own text in NAME begins where there is no variable of the dimension's name.
constexpr std::string_view no_variable = "This is a netCDF dimension but not a netCDF variable";

DimensionScale scale_of(hid_t dataset, const hvl_t& references) {
    constexpr std::size_t longest = 1024;
    if (references.len == 0 || references.p == nullptr) {
        return {};
    }
    const ObjectHandle object(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, references.p));
    if (!object.valid() || H5Iget_type(object.get()) != H5I_DATASET) {
        return {};
    }
    std::string path(longest, '\0');
    const ssize_t length = H5Iget_name(object.get(), path.data(), path.size());
    if (length <= 0 || length >= std::ssize(path)) {
        return {};
    }
    path.resize(static_cast<std::size_t>(length));
    const std::string text = text_of_attribute(object.get(), "NAME").value_or("");
    return {std::move(path), !text.starts_with(no_variable)};
}

/// By the dimension scales of netCDF-4 and h5py, for axes that have no name yet.
void add_scales(Axes& axes, const FileHandle& file, const DatasetHandle& dataset,
                std::span<const std::int64_t> shape) {
    const std::vector<DimensionScale> scales = dimension_scales(dataset.get(), shape.size());
    for (std::size_t i = 0; i < scales.size(); ++i) {
        if (axes.each[i].name.empty() && !scales[i].path.empty()) {
            axes.each[i].name = scales[i].name();
            if (scales[i].has_numbers) {
                add_coordinates(axes.each[i], shape[i], file, scales[i].path);
            }
        }
    }
}

/// The frames of a Data Exchange file are along their angles.
void add_angles(Axes& axes, const FileHandle& file, const std::string& path,
                std::span<const std::int64_t> shape) {
    const std::string angles = path_below(group_of_path(path), exchange_angles);
    if (shape.size() < 2 || exchange_role(path) != FrameRole::projection || !counts_frames(axes)) {
        return;
    }
    Axis& frames = axes.each.front();
    if (!is_own_object(file, angles)) {
        frames.name = frames.name.empty() ? "frame" : frames.name;
    } else if (frames.name.empty() || frames.name == exchange_angles) {
        frames.name = exchange_angles;
        add_coordinates(frames, shape.front(), file, angles);
    }
}

/// What this program wrote.
Axes own_axes(hid_t dataset, std::span<const std::int64_t> shape) {
    const std::optional<std::string> text = text_of_attribute(dataset, placement_attribute);
    std::optional<Axes> axes = axes_of_text(text.value_or(""), shape.size());
    return axes ? fitting_axes(std::move(*axes), shape) : Axes{};
}

} // namespace

void place_axis(Axis& axis, std::int64_t extent, const FileHandle& file,
                const DatasetHandle& coordinates, const std::string& path) {
    const TypeHandle type(H5Dget_type(coordinates.get()));
    const H5T_class_t kind = type.valid() ? H5Tget_class(type.get()) : H5T_NO_CLASS;
    if (extents_of(coordinates) != std::vector<std::int64_t>{extent} ||
        (kind != H5T_INTEGER && kind != H5T_FLOAT)) {
        return;
    }
    axis.unit = plain_unit(text_of_attribute(coordinates.get(), "units").value_or(""));
    const std::optional<EvenNumbers> stored = even_numbers(coordinates.get(), extent);
    const auto even = stored ? unpacked(*stored, coordinates.get(), file, path) : std::nullopt;
    if (even) {
        axis.spacing = even->step;
        axis.origin = even->first;
    }
}

std::string DimensionScale::name() const { return path.substr(path.rfind('/') + 1); }

std::vector<DimensionScale> dimension_scales(hid_t dataset, std::size_t axes) {
    if (H5Aexists(dataset, list_name) <= 0) {
        return {};
    }
    const AttributeHandle attribute(H5Aopen(dataset, list_name, H5P_DEFAULT));
    const TypeHandle type(attribute.valid() ? H5Aget_type(attribute.get()) : H5I_INVALID_HID);
    const SpaceHandle space(attribute.valid() ? H5Aget_space(attribute.get()) : H5I_INVALID_HID);
    if (!type.valid() || !space.valid() || H5Tget_class(type.get()) != H5T_VLEN ||
        H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(axes)) {
        return {};
    }
    const TypeHandle each(H5Tget_super(type.get()));
    if (!each.valid() || H5Tequal(each.get(), H5T_STD_REF_OBJ) <= 0) {
        return {};
    }
    std::vector<hvl_t> lists(axes);
    if (H5Aread(attribute.get(), type.get(), lists.data()) < 0) {
        return {};
    }
    std::vector<DimensionScale> scales;
    scales.reserve(axes);
    for (const hvl_t& references : lists) {
        scales.push_back(scale_of(dataset, references));
    }
    (void)H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, lists.data());
    const bool any = std::any_of(scales.begin(), scales.end(),
                                 [](const DimensionScale& scale) { return !scale.path.empty(); });
    return any ? scales : std::vector<DimensionScale>{};
}

Axes axis_marks(const FileHandle& file, const DatasetHandle& dataset, const std::string& path,
                std::span<const std::int64_t> shape, std::optional<int> channels) {
    Axes axes = own_axes(dataset.get(), shape);
    const auto labels = texts_of(attribute_of(dataset.get(), "DIMENSION_LABELS"));
    if (axes.known()) {
        name_axes(axes, labels);
        return axes;
    }
    axes.each.resize(shape.size());
    if (const std::optional<std::size_t> plane = plane_axis(dataset.get(), shape)) {
        axes = axes_of_letters(*plane == 0 ? "cyx" : "ycx");
        axes.channels = {"red", "green", "blue"};
        axes.colours = {"FF0000", "00FF00", "0000FF"};
    }
    if (channels.value_or(1) > 1) {
        axes.each.back().name = "s";
    }
    const std::string whole = path_below("/", path);
    add_group(axes, file, whole, shape);
    name_axes(axes, labels);
    name_by_dataset(axes, file, dataset, whole, shape);
    add_scales(axes, file, dataset, shape);
    add_tags(axes, dataset.get());
    add_angles(axes, file, whole, shape);
    // An image, whose rows and columns are before the samples, unless labels say which they are.
    if (channels && labels.size() != shape.size() && !is_no_image(dataset.get())) {
        std::size_t end = sized_axes(axes);
        for (const char* marked : {"x", "y"}) {
            if (end > 0 && axes.each[--end].name.empty() && !axes.find(marked)) {
                axes.each[end].name = marked;
            }
        }
    }
    add_sizes(axes, dataset.get());
    return fitting_axes(std::move(axes), shape);
}

} // namespace runner
