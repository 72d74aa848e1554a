// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows.hpp"

#include "io/chunk_grid.hpp"
#include "io/file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_type.hpp"
#include "io/row_writers.hpp"
#include "io/zstd_filter.hpp"

#include <filesystem>
#include <system_error>

namespace runner {
namespace {

/// Where the elements begin, and each large chunk: what direct I/O and page-sized writes like.
constexpr hsize_t alignment = 4096;

/// The oldest format that holds it, since old readers are many. Above the limit it is that of HDF5
/// 1.10, whose index of unfiltered chunks is computed: quick to make and to look up.
PropertyHandle file_access(const OutputDataset& output) {
    PropertyHandle access(hdf5_must(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
    hdf5_must(H5Pset_file_locking(access.get(), true, true), "H5Pset_file_locking");
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

void set_filters(const PropertyHandle& creation, const OutputLayout& layout) {
    if (layout.compression != Compression::none && layout.shuffle) {
        hdf5_must(H5Pset_shuffle(creation.get()), "H5Pset_shuffle");
    }
    const auto level = static_cast<unsigned>(layout.level);
    if (layout.compression == Compression::deflate) {
        hdf5_must(H5Pset_deflate(creation.get(), level), "H5Pset_deflate");
    } else if (layout.compression == Compression::zstd) {
        hdf5_must(H5Pset_filter(creation.get(), zstd_filter_id, H5Z_FLAG_MANDATORY, 1, &level),
                  "H5Pset_filter");
    }
}

PropertyHandle dataset_creation(const OutputDataset& output) {
    PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    // No times: the same job makes the same bytes.
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    hdf5_must(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    if (!output.layout.chunk.empty()) {
        const ChunkGrid grid(output.array, output.layout);
        const std::vector<hsize_t> chunk(grid.chunk().begin(), grid.chunk().end());
        hdf5_must(H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()),
                  "H5Pset_chunk");
        set_filters(creation, output.layout);
    }
    if (output.layout.compression == Compression::none) {
        hdf5_must(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
    }
    return creation;
}

void create_dataset(const FileHandle& file, const OutputDataset& output) {
    const std::vector<hsize_t> shape(output.array.shape.begin(), output.array.shape.end());
    const SpaceHandle space(
        hdf5_must(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                  "H5Screate_simple"));
    const PropertyHandle links(hdf5_must(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group");
    hdf5_must(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8), "H5Pset_char_encoding");
    const PropertyHandle creation = dataset_creation(output);
    DatasetHandle dataset(H5Dcreate2(file.get(), output.dataset.c_str(),
                                     hdf5_type(output.array.type), space.get(), links.get(),
                                     creation.get(), H5P_DEFAULT));
    if (!dataset.valid() || !dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot create the dataset",
                   file_and_dataset(output.file, output.dataset), "Choose another output.dataset");
    }
}

/// Shards of a run that was killed, of perhaps more ranks than there are now.
void remove_old_shards(const OutputDataset& output) {
    const std::filesystem::path file(output.file);
    const std::string start = file.filename().string() + shard_mark;
    const auto folder = file.has_parent_path() ? file.parent_path() : ".";
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
        if (entry.path().filename().string().starts_with(start)) {
            std::filesystem::remove(entry.path(), failure);
        }
    }
    if (failure) {
        throw Error(ExitCode::output, {"cannot remove old files", output.file + shard_mark + "*",
                                       failure.message(), "Remove them by hand"});
    }
}

} // namespace

void create_output(const OutputDataset& output) {
    start_hdf5();
    (void)row_alignment(output.array, output.layout);
    // HDF5 makes the file again over this one; the system's reason for a failure is told better
    // here.
    File(output.file, File::Mode::create).close();
    remove_old_shards(output);
    const PropertyHandle access = file_access(output);
    FileHandle file(H5Fcreate(output.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    if (!file.valid()) {
        throw_hdf5(ExitCode::output, "cannot create the file", output.file,
                   "Is another program using it?");
    }
    create_dataset(file, output);
    close_hdf5(std::move(file), output.file);
    if (output.layout.compression == Compression::none) {
        File laid_out(output.file, File::Mode::update);
        laid_out.reserve(0, laid_out.size());
        laid_out.close();
    }
}

} // namespace runner
