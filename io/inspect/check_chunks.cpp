// SPDX-License-Identifier: BSD-3-Clause
#include "io/inspect/check_chunks.hpp"

#include "base/format.hpp"
#include "io/files/file.hpp"
#include "io/filters/unpacker.hpp"
#include "io/hdf5/hdf5_dataset.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr unsigned highest_deflate_level = 9;

[[noreturn]] void refuse(const Filter& filter, const std::string& where) {
    std::string values;
    for (const unsigned value : filter.parameters) {
        values += fmt::format("{}{}", (values.empty() ? "" : ", "), value);
    }
    throw Error(
        ExitCode::input,
        {"cannot read the dataset", where,
         fmt::format("the parameters of its filter {} ({}) do not fit its type and chunks: [{}]",
                     filter.id, filter.name, values),
         "The file is damaged: copy it again"});
}

bool is_of_hdf5(const Filter& filter) { return filter.id < H5Z_FILTER_RESERVED; }

/// Whether HDF5 reckons the filter's parameters out by itself when it makes a dataset.
bool is_reckoned(const Filter& filter) {
    return filter.id == H5Z_FILTER_SHUFFLE || filter.id == H5Z_FILTER_NBIT ||
           filter.id == H5Z_FILTER_SCALEOFFSET || filter.id == H5Z_FILTER_SZIP;
}

/// The filters as HDF5 sets them up when it makes such a dataset, in a file in memory.
std::vector<Filter> recreated_filters(const DatasetHandle& dataset, const PropertyHandle& creation,
                                      const std::string& where) {
    constexpr std::size_t step = 65536;
    const PropertyHandle access(hdf5_must(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
    hdf5_must(H5Pset_fapl_core(access.get(), step, false), "H5Pset_fapl_core");
    const FileHandle file(
        hdf5_must(H5Fcreate("filters", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "H5Fcreate"));
    const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    const DatasetHandle made(H5Dcreate2(file.get(), "x", type.get(), space.get(), H5P_DEFAULT,
                                        creation.get(), H5P_DEFAULT));
    if (!made.valid()) {
        throw_hdf5(ExitCode::input, "the dataset's filters do not fit its type and chunks", where,
                   "The file is damaged: copy it again");
    }
    return filters_of(creation_of(made));
}

/// The first element of a chunk.
std::vector<std::int64_t> start_of(const ChunkPlace& chunk, const DatasetInfo& info) {
    std::vector<std::int64_t> start(info.chunk.size());
    std::int64_t index = chunk.index;
    for (std::size_t axis = start.size(); axis-- > 0;) {
        const std::int64_t extent = info.chunk[axis];
        const std::int64_t count = (info.array.shape[axis] + extent - 1) / extent;
        start[axis] = index % count * extent;
        index /= count;
    }
    return start;
}

std::int64_t chunk_bytes(const DatasetInfo& info) {
    return byte_count({info.array.type, info.chunk});
}

} // namespace

void check_filter_parameters(const DatasetHandle& dataset, const PropertyHandle& creation,
                             const std::string& where) {
    const std::vector<Filter> filters = filters_of(creation);
    for (const Filter& filter : filters) {
        if (filter.id == H5Z_FILTER_DEFLATE &&
            (filter.parameters.size() != 1 || filter.parameters[0] > highest_deflate_level)) {
            refuse(filter, where);
        }
        if (codec_of(filter.id) != nullptr && !is_known(filter)) {
            refuse(filter, where);
        }
    }
    if (std::none_of(filters.begin(), filters.end(), is_reckoned) ||
        !std::all_of(filters.begin(), filters.end(), is_of_hdf5)) {
        return;
    }
    const std::vector<Filter> recreated = recreated_filters(dataset, creation, where);
    for (std::size_t i = 0; i < filters.size(); ++i) {
        if (i >= recreated.size() || filters[i].parameters != recreated[i].parameters) {
            refuse(filters[i], where);
        }
    }
}

std::vector<ChunkPlace> chunks_to_try(const std::vector<ChunkPlace>& chunks,
                                      const DatasetInfo& info) {
    constexpr std::int64_t most = 256; // each takes a read of the file
    if (chunks.empty()) {
        return {};
    }
    const std::int64_t count =
        std::min({most, tried_bytes / chunk_bytes(info), std::ssize(chunks)});
    return {chunks.begin(), chunks.begin() + count};
}

void try_chunks(const std::string& holder, const PropertyHandle& creation, const DatasetInfo& info,
                std::span<const ChunkPlace> chunks, const std::string& where) {
    const std::vector<Filter> filters = filters_of(creation);
    unsigned options = 0; // of chunks across the array's edge, which may be stored as they are
    if (chunks.empty() || !Unpacker::knows(filters) ||
        H5Pget_chunk_opts(creation.get(), &options) < 0 || options != 0) {
        return;
    }
    const File file(holder, File::Mode::read);
    Unpacker unpacker(filters, chunk_bytes(info));
    std::vector<std::byte> packed;
    for (const ChunkPlace& chunk : chunks) {
        if (chunk.bytes == 0) {
            continue; // known to be bad
        }
        packed.resize(static_cast<std::size_t>(chunk.bytes));
        file.read(chunk.offset, chunk.bytes, packed.data());
        (void)unpacker.unpack(packed, chunk.skipped,
                              where + ", chunk from " + shape_text(start_of(chunk, info)));
    }
}

} // namespace runner
