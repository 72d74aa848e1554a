// SPDX-License-Identifier: BSD-3-Clause
#include "io/generations.hpp"

#include "base/array_info.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "io/rows_format.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr const char* what = "cannot take the frames' generations";

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input,
                {what, where, why, "Rename or remove that dataset if it is something else"});
}

/// Whether the link is there; the groups before it are those of a dataset that is.
bool is_linked(const FileHandle& handle, const std::string& path) {
    return H5Lexists(handle.get(), path.c_str(), H5P_DEFAULT) > 0;
}

/// What HDF5 makes 0 of a negative number is told.
void check_signed(const DatasetHandle& dataset, std::size_t count, const std::string& where) {
    std::vector<std::int64_t> numbers(count);
    if (H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) <
        0) {
        throw_hdf5(ExitCode::input, what, where, "Check the file with h5ls");
    }
    const auto negative =
        std::find_if(numbers.begin(), numbers.end(), [](std::int64_t n) { return n < 0; });
    if (negative != numbers.end()) {
        refuse(where, "that of frame " + std::to_string(negative - numbers.begin()) + " is " +
                          std::to_string(*negative));
    }
}

} // namespace

std::string generations_name(const std::string& dataset) {
    const std::size_t slash = dataset.rfind('/');
    return (slash == std::string::npos ? "/" : dataset.substr(0, slash + 1)) + "generation";
}

bool has_generations(const std::string& file, const std::string& dataset) {
    return rows_format_of(file) == nullptr && is_linked(open_hdf5(file), generations_name(dataset));
}

std::optional<std::vector<std::uint64_t>>
read_generations(const std::string& file, const std::string& dataset, std::int64_t frames) {
    if (!has_generations(file, dataset)) {
        return std::nullopt;
    }
    const std::string name = generations_name(dataset);
    const std::string where = file_and_dataset(file, name);
    const FileHandle handle = open_hdf5(file);
    const DatasetHandle opened = open_dataset(handle, file, name);
    const TypeHandle type(hdf5_must(H5Dget_type(opened.get()), "H5Dget_type"));
    if (H5Tget_class(type.get()) != H5T_INTEGER) {
        refuse(where, "its elements are no integers");
    }
    if (const std::vector<std::int64_t> shape = extents_of(opened);
        shape != std::vector<std::int64_t>{frames}) {
        refuse(where, "its shape is " + shape_text(shape) + ", and " + dataset + " has " +
                          std::to_string(frames) + (frames == 1 ? " frame" : " frames"));
    }
    const auto count = static_cast<std::size_t>(frames);
    if (H5Tget_sign(type.get()) != H5T_SGN_NONE) {
        check_signed(opened, count, where);
    }
    std::vector<std::uint64_t> generations(count);
    if (H5Dread(opened.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                generations.data()) < 0) {
        throw_hdf5(ExitCode::input, what, where, "Check the file with h5ls");
    }
    return generations;
}

void write_generations(const std::string& file, const std::string& dataset,
                       std::span<const std::uint64_t> generations) {
    const std::string name = generations_name(dataset);
    FileHandle handle = update_hdf5(file);
    const hsize_t count = generations.size();
    const SpaceHandle space(hdf5_must(H5Screate_simple(1, &count, nullptr), "H5Screate_simple"));
    const PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    // No times: the same job makes the same bytes.
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    DatasetHandle stored(H5Dcreate2(handle.get(), name.c_str(), H5T_STD_U64LE, space.get(),
                                    H5P_DEFAULT, creation.get(), H5P_DEFAULT));
    if (!stored.valid() ||
        H5Dwrite(stored.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                 generations.data()) < 0 ||
        !stored.close()) {
        throw_hdf5(ExitCode::output, "cannot store the frames' generations",
                   file_and_dataset(file, name), "Check the space on that file system");
    }
    close_hdf5(std::move(handle), file);
}

} // namespace runner
