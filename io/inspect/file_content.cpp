// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/file_content.hpp"

#include "io/files/file.hpp"
#include "io/filters/codec.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/inspect/attribute_list.hpp"
#include "io/inspect/links.hpp"
#include "io/inspect/virtual_parts.hpp"
#include "io/rows/rows.hpp"

#include <limits>

namespace runner {
namespace {

std::string describe_filter(const Filter& filter) {
    return filter_text(filter) + (H5Zfilter_avail(filter.id) > 0 ? "" : ", not installed");
}

DatasetContent content_of(const FileHandle& handle, const std::string& file,
                          const std::string& path) {
    const DatasetHandle dataset = open_dataset(handle, file, path);
    const PropertyHandle creation = creation_of(dataset);
    check_parts(handle, file, creation, file_and_dataset(file, path));
    const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    DatasetContent content;
    content.path = path.starts_with('/') ? path : "/" + path;
    content.type = describe_type(type.get());
    content.shape = extents_of(dataset);
    if (__builtin_mul_overflow(H5Sget_simple_extent_npoints(space.get()), H5Tget_size(type.get()),
                               &content.bytes)) {
        content.bytes = std::numeric_limits<std::int64_t>::max(); // of a damaged file's shape
    }
    content.stored_bytes = static_cast<std::int64_t>(H5Dget_storage_size(dataset.get()));
    content.storage = storage_of(creation);
    content.chunk = chunk_of(creation);
    for (const Filter& filter : filters_of(creation)) {
        content.filters.push_back(describe_filter(filter));
    }
    const haddr_t offset = H5Dget_offset(dataset.get());
    if (content.storage == "contiguous" && offset != HADDR_UNDEF) {
        content.offset = static_cast<std::int64_t>(offset);
    }
    content.attributes = attributes_of(dataset.get());
    return content;
}

DatasetContent content_of_format(const std::string& file, const std::string& dataset,
                                 const RowsFormat& format, const InputRules& rules) {
    const StoredRows stored = format.survey({file, dataset, rules});
    const DatasetInfo& info = stored.info;
    DatasetContent content;
    content.path = stored.dataset.empty() ? std::string(format.dataset) : stored.dataset;
    content.type = type_text(info.array);
    content.shape = info.array.shape;
    content.bytes = byte_count(info.array);
    content.stored_bytes = info.stored_bytes;
    content.storage = info.storage;
    content.chunk = info.chunk;
    content.filters = info.filters;
    content.offset = holds_cells(info)
                         ? std::optional(format.written->place({{}, {}, info.array, {}}).begin)
                         : info.offset;
    return content;
}

/// Everything that a file of another format than HDF5 holds. Of what cannot be read of a folder,
/// the name alone.
void add_datasets(FileContent& content, const RowsFormat& format, const InputRules& rules) {
    if (format.folder == nullptr) {
        content.datasets.push_back(content_of_format(content.file, "", format, rules));
        content.bytes = File(content.file, File::Mode::read).size();
        return;
    }
    for (const std::string& dataset : format.folder->datasets(content.file, rules)) {
        try {
            content.datasets.push_back(content_of_format(content.file, dataset, format, rules));
            content.bytes += content.datasets.back().stored_bytes;
        } catch (const Error& error) {
            if (error.code() != ExitCode::input) {
                throw;
            }
            content.datasets.emplace_back();
            content.datasets.back().path = dataset;
            content.datasets.back().type = "unknown";
        }
    }
}

AttributeList root_attributes_of(const FileHandle& handle) {
    const ObjectHandle root(
        hdf5_read(H5Oopen(handle.get(), "/", H5P_DEFAULT), handle.get(), ExitCode::input));
    return attributes_of(root.get());
}

} // namespace

AttributeList root_attributes(const std::string& file) {
    return rows_format_of(file) != nullptr ? AttributeList() : root_attributes_of(open_hdf5(file));
}

FileContent file_content(const std::string& file, const InputRules& rules) {
    FileContent content;
    content.file = file;
    if (const RowsFormat* format = rows_format_of(file)) {
        content.format = format->name;
        add_datasets(content, *format, rules);
        return content;
    }
    const FileHandle handle = open_hdf5(file);
    content.format = "HDF5";
    content.bytes = File(file, File::Mode::read).size();
    content.attributes = root_attributes_of(handle);
    for (const std::string& path : dataset_paths(handle)) {
        content.datasets.push_back(content_of(handle, file, path));
    }
    content.links = links_of(handle, file);
    return content;
}

DatasetContent dataset_content(const std::string& file, const std::string& dataset,
                               const InputRules& rules) {
    const RowsFormat* format = rows_format_of(file);
    return format != nullptr ? content_of_format(file, dataset, *format, rules)
                             : content_of(open_hdf5(file), file, dataset);
}

} // namespace runner
