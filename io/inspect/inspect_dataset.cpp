// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/inspect_dataset.hpp"

#include "io/filters/codec.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/source_names.hpp"
#include "io/inspect/axis_marks.hpp"
#include "io/inspect/colour_marks.hpp"
#include "io/inspect/invalid_marks.hpp"

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
    // For a dataset that a link led to in another file, the offset would count there.
    info.offset = holder == file ? plain_offset(opened, info) : std::nullopt;
    return info;
}

} // namespace runner
