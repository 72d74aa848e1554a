// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/create_output.hpp"

#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/filters/codec.hpp"
#include "io/filters/unpacker.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/inspect/inspect_dataset.hpp"
#include "io/output/output_size.hpp"
#include "io/output/part_files.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/row_writers.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// Where the elements begin, and each large chunk: what direct I/O and page-sized writes like.
constexpr hsize_t alignment = 4096;

/// The oldest format that holds it, since old readers are many. Above the limit it is that of HDF5
/// 1.10, whose index of unfiltered chunks is computed: quick to make and to look up.
PropertyHandle file_access(const OutputDataset& output) {
    PropertyHandle access(hdf5_must(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
    // The output has a lock of its own, and some file systems have none.
    hdf5_must(H5Pset_file_locking(access.get(), false, true), "H5Pset_file_locking");
    hdf5_must(H5Pset_alignment(access.get(), alignment, alignment), "H5Pset_alignment");
    const bool computed_index = !output.layout.chunk.empty() &&
                                output.layout.compression == Compression::none &&
                                ChunkGrid(output.array, output.layout).count() > listed_chunks;
    hdf5_must(H5Pset_libver_bounds(access.get(),
                                   computed_index ? H5F_LIBVER_V110 : H5F_LIBVER_EARLIEST,
                                   H5F_LIBVER_LATEST),
              "H5Pset_libver_bounds");
    return access;
}

void set_filters(const PropertyHandle& creation, const OutputDataset& output) {
    if (output.layout.compression == Compression::none) {
        return;
    }
    for (const Filter& filter : layout_filters(output.layout, output.array)) {
        if (filter.id == filter_id::shuffle) {
            hdf5_must(H5Pset_shuffle(creation.get()), "H5Pset_shuffle");
        } else if (filter.id == filter_id::deflate) {
            hdf5_must(H5Pset_deflate(creation.get(), filter.parameters.front()), "H5Pset_deflate");
        } else {
            hdf5_must(H5Pset_filter(creation.get(), filter.id, H5Z_FLAG_MANDATORY,
                                    filter.parameters.size(), filter.parameters.data()),
                      "H5Pset_filter");
        }
    }
}

PropertyHandle dataset_creation(const OutputDataset& output) {
    PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    // No times: the same job makes the same bytes.
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    if (output.parts.several()) {
        map_parts(creation, output);
        return creation;
    }
    hdf5_must(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    if (!output.layout.chunk.empty()) {
        const ChunkGrid grid(output.array, output.layout);
        const std::vector<hsize_t> chunk(grid.chunk().begin(), grid.chunk().end());
        hdf5_must(H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()),
                  "H5Pset_chunk");
        set_filters(creation, output);
    }
    if (output.layout.compression == Compression::none) {
        hdf5_must(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
    }
    return creation;
}

void create_dataset(const FileHandle& file, const OutputDataset& output, const std::string& name,
                    const ArrayInfo& array) {
    const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
    const SpaceHandle space(
        hdf5_must(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                  "H5Screate_simple"));
    const PropertyHandle links(hdf5_must(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group");
    hdf5_must(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8), "H5Pset_char_encoding");
    const PropertyHandle creation = dataset_creation(output);
    const TypeHandle type = memory_type(array);
    DatasetHandle dataset(H5Dcreate2(file.get(), name.c_str(), type.get(), space.get(), links.get(),
                                     creation.get(), H5P_DEFAULT));
    if (!dataset.valid() || !dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot create the dataset",
                   file_and_dataset(output.file, name), "Choose another output.dataset");
    }
}

void create_datasets(const FileHandle& file, const OutputDataset& output) {
    if (output.fields.empty()) {
        create_dataset(file, output, output.dataset, output.array);
    }
    for (const OutputField& field : output.fields) {
        create_dataset(file, output, field.dataset, field.array);
    }
}

/// Bytes of a file.
struct Extent {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

Extent contiguous_extent(const std::string& file, const std::string& dataset) {
    const DatasetInfo info = of_output([&] { return inspect_dataset(file, dataset); });
    if (!info.offset) {
        throw Error(ExitCode::defect, {"the output has no place for its elements", file, "", ""});
    }
    return {*info.offset, byte_count(info.array)};
}

void sort_by_offset(std::vector<Extent>& extents) {
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
}

/// Where the elements lie in the file, in the order of their offsets; nothing with compression.
std::vector<Extent> data_extents(const OutputDataset& output) {
    if (is_packed(output.layout)) {
        return {};
    }
    if (!output.layout.is_hdf5()) {
        const DataPlace place = output.layout.format->place(output);
        return {{place.begin, place.bytes}};
    }
    if (!output.fields.empty()) {
        std::vector<Extent> extents;
        for (const OutputField& field : output.fields) {
            extents.push_back(contiguous_extent(output.file, field.dataset));
        }
        sort_by_offset(extents);
        return extents;
    }
    if (output.layout.chunk.empty()) {
        return {contiguous_extent(output.file, output.dataset)};
    }
    const ChunkGrid grid(output.array, output.layout);
    std::vector<Extent> extents;
    for (const std::int64_t address : chunk_addresses(output, grid)) {
        extents.push_back({address, grid.chunk_bytes()});
    }
    sort_by_offset(extents);
    return extents;
}

void make_structure(const OutputDataset& output) {
    // Made here first, where links are refused and the system's reason for a failure is reported.
    // HDF5 then makes it again, and only where nothing has the name (H5F_ACC_EXCL): it would follow
    // a link that has come since.
    File(output.file, File::Mode::create).close();
    (void)std::remove(output.file.c_str());
    const PropertyHandle access = file_access(output);
    FileHandle file(H5Fcreate(output.file.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()));
    if (!file.valid()) {
        throw_hdf5(ExitCode::output, "cannot create the file", output.file,
                   "Is another program using it?");
    }
    if (output.parts.several()) {
        // Only this format stores a regular selection in a few numbers. HDF5 1.10, which virtual
        // datasets require, reads it; the file's superblock stays the oldest.
        hdf5_must(H5Fset_libver_bounds(file.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST),
                  "H5Fset_libver_bounds");
    }
    create_datasets(file, output);
    if (!output.mark.empty()) {
        write_text(file.get(), output.file, part_attribute, output.mark);
    }
    close_hdf5(std::move(file), output.file);
    if (!output.mark.empty()) {
        record_object_names(output.file);
    }
}

/// The file and the dataset, as HDF5 lays them out; not the disk space.
void lay_out(const OutputDataset& output) {
    try {
        make_structure(output);
    } catch (const Error& error) {
        if (error.code() != ExitCode::defect) {
            throw;
        }
        // A call that cannot fail but where it writes to the file.
        throw Error(ExitCode::output, {"cannot store the file's structure", output.file,
                                       error.text().what + ": " + error.text().why,
                                       "Check the storage and its space, then start again"});
    }
}

void copy_bytes(const File& from, const File& to, std::int64_t begin, std::int64_t end) {
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(std::clamp<std::int64_t>(end - begin, 0, 16 * MiB)));
    for (std::int64_t at = begin; at < end; at += std::ssize(bytes)) {
        const std::int64_t count = std::min(std::ssize(bytes), end - at);
        from.read(at, count, bytes.data());
        to.write(at, count, bytes.data());
    }
}

/// All parts and the virtual dataset over them; none of them where one cannot be made.
void create_parts(const OutputDataset& output) {
    make_parts_folder(output.parts.folder);
    try {
        for (const OutputDataset& part : part_datasets(output)) {
            create_output(part);
        }
        lay_out(output);
    } catch (...) {
        remove_parts(output.parts.folder, output.parts.set);
        throw;
    }
}

/// Copies what is not elements from a file just laid out over one that was written to.
void copy_structure(const File& fresh, const File& used, const std::vector<Extent>& elements) {
    if (used.size() < fresh.size()) {
        throw Error(ExitCode::output,
                    {"cannot resume from the partial output", used.path(),
                     "it has " + size_text(used.size()) + " of " + size_text(fresh.size()),
                     "Set run.resume = \"never\" to restart the job"});
    }
    std::int64_t at = 0;
    for (const Extent& extent : elements) {
        copy_bytes(fresh, used, at, extent.offset);
        at = extent.offset + extent.bytes;
    }
    copy_bytes(fresh, used, at, fresh.size());
    used.resize(fresh.size());
    used.sync();
}

/// Removes a file unless told to keep it.
class Fleeting {
  public:
    explicit Fleeting(std::string path) : path_(std::move(path)) {}
    Fleeting(const Fleeting&) = delete;
    Fleeting& operator=(const Fleeting&) = delete;
    ~Fleeting() {
        if (!path_.empty()) {
            (void)std::remove(path_.c_str());
        }
    }
    void keep() { path_.clear(); }

  private:
    std::string path_;
};

} // namespace

void create_output(const OutputDataset& output) {
    (void)row_alignment(output.array, output.layout);
    remove_shards(output);
    Fleeting file(output.file);
    if (!output.layout.is_hdf5()) {
        create_written(output);
        file.keep();
        return;
    }
    start_hdf5();
    if (output.parts.several()) {
        create_parts(output);
        file.keep();
        return;
    }
    lay_out(output);
    if (output.layout.compression == Compression::none) {
        File laid_out(output.file, File::Mode::update);
        laid_out.reserve(0, laid_out.size());
        laid_out.close();
    }
    file.keep();
}

void restore_output(const OutputDataset& output) {
    if (!output.layout.is_hdf5()) {
        restore_written(output);
        return;
    }
    start_hdf5();
    if (output.parts.several()) {
        for (const OutputDataset& part : part_datasets(output)) {
            restore_output(part);
        }
        lay_out(output); // it holds no elements
        return;
    }
    if (output.layout.compression != Compression::none) {
        lay_out(output);
        return;
    }
    OutputDataset fresh = output;
    fresh.file += ".layout";
    const Fleeting file(fresh.file);
    lay_out(fresh);
    File used(output.file, File::Mode::update);
    copy_structure(File(fresh.file, File::Mode::update), used, data_extents(fresh));
    used.close();
}

std::uint64_t layout_hash(const OutputDataset& output) {
    if (output.parts.several()) {
        std::vector<std::uint64_t> hashes;
        for (const OutputDataset& part : part_datasets(output)) {
            hashes.push_back(layout_hash(part));
        }
        return hash_bytes(reinterpret_cast<const std::byte*>(hashes.data()),
                          std::ssize(hashes) * std::int64_t{sizeof(std::uint64_t)});
    }
    const std::vector<Extent> extents = data_extents(output);
    return extents.empty() ? 0
                           : hash_bytes(reinterpret_cast<const std::byte*>(extents.data()),
                                        std::ssize(extents) * std::int64_t{sizeof(Extent)});
}

} // namespace runner
