// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/layout_of.hpp"

#include "base/error.hpp"
#include "io/files/input_rules.hpp"
#include "io/filters/unpacker.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/source_names.hpp"
#include "io/input/check_storage.hpp"
#include "io/input/open_rows.hpp"
#include "io/input/source_rows.hpp"
#include "io/input/stack.hpp"
#include "io/inspect/inspect_dataset.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace runner {
namespace {

bool keeps_partial_chunks_packed(const PropertyHandle& creation) {
    unsigned options = 0;
    return H5Pget_chunk_opts(creation.get(), &options) >= 0 && options == 0;
}

bool can_unpack(const DatasetHandle& dataset, const PropertyHandle& creation,
                const DatasetInfo& info, const std::vector<Filter>& filters) {
    const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
    return info.storage == "chunked" && fits_cache(info) && Unpacker::knows(filters) &&
           is_plain(type.get(), info.array) && keeps_partial_chunks_packed(creation);
}

} // namespace

std::vector<std::byte> fill_element(const PropertyHandle& creation, const ArrayInfo& array) {
    std::vector<std::byte> element(static_cast<std::size_t>(size_of(array.type)), std::byte{0});
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    hdf5_must(H5Pfill_value_defined(creation.get(), &defined), "H5Pfill_value_defined");
    H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
    hdf5_must(H5Pget_fill_time(creation.get(), &time), "H5Pget_fill_time");
    if (defined != H5D_FILL_VALUE_UNDEFINED && time != H5D_FILL_TIME_NEVER &&
        H5Pget_fill_value(creation.get(), memory_type(array).get(), element.data()) < 0) {
        throw_hdf5(ExitCode::input, "cannot read a dataset's fill value", "");
    }
    return element;
}

DatasetLayout layout_of(const DatasetHandle& dataset, const DatasetInfo& info,
                        std::vector<ChunkPlace> chunks) {
    DatasetLayout layout;
    layout.holder = file_of(dataset);
    layout.info = info;
    layout.info.offset = plain_offset(dataset, info);
    if (layout.info.offset) {
        layout.way = DatasetLayout::Way::positions;
        return layout;
    }
    const PropertyHandle creation = creation_of(dataset);
    std::vector<Filter> filters = filters_of(creation);
    if (can_unpack(dataset, creation, info, filters)) {
        layout.way = DatasetLayout::Way::chunks;
        layout.filters = std::move(filters);
        layout.fill = fill_element(creation, info.array);
        layout.chunks = std::move(chunks);
    }
    return layout;
}

DatasetLayout layout_of_format(const std::string& file, const std::string& dataset,
                               const RowsFormat& format, FileIs is, const InputRules& rules) {
    using Way = DatasetLayout::Way;
    FileMarks files;
    if (format.folder == nullptr) {
        add_mark(files, file);
    }
    StoredRows stored = format.survey({file, dataset, rules});
    if (is == FileIs::all && !stored.elsewhere.empty()) {
        throw Error(ExitCode::input, {"the dataset is in several files", file, stored.elsewhere,
                                      "Name all of them as a stack, as \"scan_*.tif\""});
    }
    DatasetLayout layout{file, stored.dataset.empty() ? dataset : stored.dataset, file,
                         std::move(stored.info)};
    layout.elsewhere = std::move(stored.elsewhere);
    layout.of_set = std::move(stored.of_set);
    layout.files = std::move(files);
    layout.files.merge(stored.files);
    switch (stored.way) {
    case StoredRows::Way::positions: layout.way = Way::positions; break;
    case StoredRows::Way::chunks:
        layout.way = fits_cache(layout.info) || format.open == nullptr ? Way::chunks : Way::library;
        break;
    case StoredRows::Way::own: layout.way = Way::format; break;
    case StoredRows::Way::library: layout.way = Way::library; break;
    }
    if (layout.way == Way::positions) {
        layout.extents = std::move(stored.extents);
    } else if (layout.way == Way::chunks) {
        layout.filters = std::move(stored.filters);
        layout.fill = std::move(stored.fill);
        layout.fill.resize(static_cast<std::size_t>(size_of(layout.info.array.type)));
        layout.chunk_files = std::move(stored.chunk_files);
        layout.members = std::move(stored.members);
        layout.chunks = std::move(stored.chunks);
        layout.edges = stored.edges;
    }
    return layout;
}

DatasetLayout inspect_layout(const std::string& file, const std::string& dataset) {
    if (is_stack(file)) {
        return stack_layout(file, dataset);
    }
    if (const RowsFormat* format = rows_format_of(file)) {
        return layout_of_format(file, dataset, *format);
    }
    FileMarks files;
    add_mark(files, file);
    const DatasetInfo info = inspect_dataset(file, dataset);
    const FileHandle handle = open_hdf5(file);
    const DatasetHandle opened = open_dataset(handle, file, dataset);
    CheckedStorage storage =
        check_storage(opened, creation_of(opened), info, file_and_dataset(file, dataset),
                      InputRules::BadChunks::mark);
    DatasetLayout layout = layout_of(opened, info, std::move(storage.chunks));
    layout.file = file;
    layout.dataset = dataset;
    if (info.storage == "virtual") {
        const auto find = [&](const std::string& name,
                              const std::string& source) -> std::optional<DatasetLayout> {
            const std::optional<std::string> plain = plain_source_name(name);
            if (!plain || *plain == ".") {
                return std::nullopt;
            }
            for (const std::filesystem::path& place : OutsideFiles::places(*plain, layout.holder)) {
                if (std::filesystem::exists(place)) {
                    return inspect_layout(place.string(), source);
                }
            }
            return std::nullopt;
        };
        (void)add_sources(layout, creation_of(opened), find, std::nullopt);
    }
    add_mark(files, layout.holder);
    for (DatasetLayout& source : layout.sources) {
        files.merge(source.files);
    }
    layout.files = std::move(files);
    return layout;
}

} // namespace runner
