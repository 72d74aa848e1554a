// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/inspect_dataset.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/filters/codec.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/source_names.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/inspect/axis_marks.hpp"
#include "io/inspect/colour_marks.hpp"
#include "io/inspect/invalid_marks.hpp"
#include "io/inspect/nexus_file.hpp"

#include <limits>
#include <utility>

namespace runner {
namespace {

constexpr const char* what_dataset = "cannot read the dataset";

TypeHandle type_of(const DatasetHandle& dataset) {
    return TypeHandle(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
}

void check_shape(const ArrayInfo& array, const std::string& where) {
    const std::vector<std::int64_t>& shape = array.shape;
    if (shape.empty()) {
        throw Error(ExitCode::input, {what_dataset, where, "it has no axes (a scalar, or empty)",
                                      "Name a dataset of one axis or more"});
    }
    for (const std::int64_t extent : shape) {
        if (extent <= 0) {
            throw Error(ExitCode::input,
                        {what_dataset, where,
                         "its shape " + shape_text(shape) + " has an axis of extent 0",
                         "Name a dataset with elements"});
        }
    }
    try {
        (void)byte_count(array);
    } catch (const Error& error) {
        throw Error(ExitCode::input,
                    {what_dataset, where,
                     "its shape is " + shape_text(shape) + ", and its bytes are more than 2^63 - 1",
                     "The file may be damaged: see h5ls"});
    }
}

void check_filters(const std::vector<Filter>& filters, const std::string& where) {
    for (const Filter& filter : filters) {
        if (H5Zfilter_avail(filter.id) <= 0) {
            throw Error(ExitCode::input,
                        {what_dataset, where,
                         "its chunks need the HDF5 filter " + filter_text(filter) +
                             ", which is not installed",
                         "Set HDF5_PLUGIN_PATH to a folder with that plugin, or store the dataset "
                         "again where it is installed, with a filter that needs none "
                         "(h5repack -f GZIP=1, or h5py with hdf5plugin)"});
        }
    }
}

/// netCDF's `_Unsigned`, by which elements with a sign are to be read as if they had none.
std::string unsigned_note(const DatasetHandle& dataset, ElementType type,
                          const std::string& where) {
    const bool has_sign = type == ElementType::int8 || type == ElementType::int16 ||
                          type == ElementType::int32 || type == ElementType::int64;
    const std::string text = text_of_attribute(dataset.get(), "_Unsigned").value_or("");
    return has_sign && (text == "true" || text == "True")
               ? format_error({"the elements are to be read without a sign", where,
                               "its attribute _Unsigned says so, as netCDF has it",
                               "They are taken as they are stored, as " + type_text({type, {}}) +
                                   "; store them as a type without a sign to compute with them"})
               : "";
}

/// The one number of a dataset; nothing where there is none, or it is something else.
std::optional<double> number_at(const FileHandle& file, const std::string& path) {
    if (!is_own_object(file, path)) {
        return std::nullopt;
    }
    const DatasetHandle dataset(H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT));
    const SpaceHandle space(dataset.valid() ? H5Dget_space(dataset.get()) : H5I_INVALID_HID);
    const TypeHandle type(dataset.valid() ? H5Dget_type(dataset.get()) : H5I_INVALID_HID);
    const H5T_class_t kind = type.valid() ? H5Tget_class(type.get()) : H5T_NO_CLASS;
    double number = 0;
    if (!space.valid() || H5Sget_simple_extent_npoints(space.get()) != 1 ||
        (kind != H5T_INTEGER && kind != H5T_FLOAT) ||
        H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &number) < 0) {
        return std::nullopt;
    }
    return number;
}

/// A note where the NXdata group of a dataset says that its elements stand for others, by NeXus'
/// `NAME_scaling_factor` and `NAME_offset`, or, of the signal, `scaling_factor` and `offset`.
std::string scaling_note(const FileHandle& file, const std::string& path,
                         const std::string& where) {
    const std::string whole = path_below("/", path);
    const std::string group = group_of_path(whole);
    const std::string name = whole.substr(whole.rfind('/') + 1);
    const ObjectHandle opened(H5Oopen(file.get(), group.c_str(), H5P_DEFAULT));
    if (!opened.valid() || text_of_attribute(opened.get(), "NX_class") != "NXdata") {
        return "";
    }
    const bool is_signal = text_of_attribute(opened.get(), "signal") == name;
    std::string said;
    for (const auto& [field, nothing] : {std::pair("scaling_factor", 1.0), {"offset", 0.0}}) {
        std::string place = path_below(group, name + "_" + field);
        std::optional<double> number = number_at(file, place);
        if (!number && is_signal && name != field) {
            place = path_below(group, field);
            number = number_at(file, place);
        }
        if (number && *number != nothing) {
            said += (said.empty() ? "" : ", ") + fmt::format("{} is {:.9g}", place, *number);
        }
    }
    return said.empty() ? ""
                        : format_error({"the elements stand for others", where, said,
                                        "They are taken as they are stored, and an output does not "
                                        "say what they stand for"});
}

/// What is lost of an NXdata group whose coordinates say by an attribute `axis` of which axis they
/// are, as files of before 2014 do: they count them in several ways.
std::string older_coordinates(const FileHandle& file, const DatasetHandle& dataset,
                              const std::string& path) {
    const std::string whole = path_below("/", path);
    const std::string group = group_of_path(whole);
    const ObjectHandle opened(H5Oopen(file.get(), group.c_str(), H5P_DEFAULT));
    if (!opened.valid() || text_of_attribute(opened.get(), "NX_class") != "NXdata" ||
        H5Aexists(opened.get(), "axes") > 0 || H5Aexists(dataset.get(), "axes") > 0) {
        return "";
    }
    std::string found;
    for (const std::string& name : names_in_group(file, group)) {
        const std::string place = path_below(group, name);
        if (place != whole && is_own_object(file, place) &&
            H5Aexists(opened.get(), (name + "_indices").c_str()) <= 0 &&
            H5Aexists_by_name(file.get(), place.c_str(), "axis", H5P_DEFAULT) > 0) {
            found += (found.empty() ? "" : ", ") + printable(name);
        }
    }
    return found.empty() ? "" : "the coordinates " + found + ", which say their axis by a number";
}

} // namespace

std::optional<std::int64_t> plain_offset(const DatasetHandle& dataset, const DatasetInfo& info) {
    const TypeHandle type = type_of(dataset);
    if (info.storage != "contiguous" || !is_plain(type.get(), info.array) ||
        info.stored_bytes != byte_count(info.array)) {
        return std::nullopt;
    }
    const haddr_t offset = H5Dget_offset(dataset.get());
    // A damaged file may say any number; HDF5 refuses those then.
    const auto last = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
    return offset > last - static_cast<haddr_t>(info.stored_bytes)
               ? std::nullopt
               : std::optional(static_cast<std::int64_t>(offset));
}

DatasetInfo inspect_dataset(const std::string& file, const std::string& dataset) {
    if (const RowsFormat* format = rows_format_of(file)) {
        return format->survey({file, dataset, {}}).info;
    }
    const std::string where = file_and_dataset(file, dataset);
    const FileHandle handle = open_hdf5(file);
    const DatasetHandle opened = open_dataset(handle, file, dataset);
    const PropertyHandle creation = creation_of(opened);
    const TypeHandle type = type_of(opened);
    const std::optional<ElementType> element = element_type_of(type.get());
    if (!element) {
        throw Error(ExitCode::input, {what_dataset, where,
                                      "its elements are of a type that is not supported: " +
                                          describe_type(type.get()),
                                      "Supported are " + element_type_names() +
                                          ", and whatever else has 1, 2, 4, 8 or 16 bytes without "
                                          "references and parts of any length"});
    }
    DatasetInfo info;
    info.array = {*element, extents_of(opened), stored_type_of(type.get(), *element)};
    check_shape(info.array, where);
    info.channels = marked_channels(opened.get(), info.array.shape);
    info.axes = axis_marks(handle, opened, dataset, info.array.shape, info.channels);
    if (!info.channels && is_no_colour(info.axes)) {
        info.channels = 1;
    }
    if (std::string lost = older_coordinates(handle, opened, dataset); !lost.empty()) {
        info.unkept.push_back(std::move(lost));
    }
    find_invalid_marks(handle, opened, dataset, info);
    info.big_endian = is_number(*element) && H5Tget_order(type.get()) == H5T_ORDER_BE;
    info.storage = storage_of(creation);
    info.chunk = chunk_of(creation);
    info.stored_bytes = static_cast<std::int64_t>(H5Dget_storage_size(opened.get()));
    const std::vector<Filter> filters = filters_of(creation);
    for (const Filter& filter : filters) {
        const std::string name = registered_name(filter.id);
        info.filters.push_back(!name.empty()          ? name
                               : !filter.name.empty() ? filter.name
                                                      : std::to_string(filter.id));
    }
    check_filters(filters, where);
    const std::string holder = file_of(opened);
    if (std::string note = check_outside_sources(creation, holder, where); !note.empty()) {
        info.notes.push_back(std::move(note));
    }
    if (std::string note = unsigned_note(opened, *element, where); !note.empty()) {
        info.notes.push_back(std::move(note));
    }
    for (std::string& note : image_notes(opened.get(), where)) {
        info.notes.push_back(std::move(note));
    }
    for (const std::string& note : {colour_note(opened.get(), info.array.shape, where),
                                    scaling_note(handle, dataset, where)}) {
        if (!note.empty()) {
            info.notes.push_back(note);
        }
    }
    // For a dataset that a link led to in another file, the offset would count there.
    info.offset = holder == file ? plain_offset(opened, info) : std::nullopt;
    return info;
}

} // namespace runner
