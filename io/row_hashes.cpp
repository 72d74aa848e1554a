// SPDX-License-Identifier: BSD-3-Clause
#include "io/row_hashes.hpp"

#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_type.hpp"

#include <array>
#include <new>

#include <xxhash.h>

namespace runner {
namespace {

constexpr hsize_t fields = 3;

// Deflate makes at most so many bytes out of one; a list that claims more is not there.
constexpr hsize_t largest_expansion = 1032;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
    throw Error(ExitCode::input, {"cannot take the checksums", file + ":" + row_hashes_dataset, why,
                                  "Only a finished output of this program has them"});
}

/// The list's elements: three to a run of rows.
std::vector<std::uint64_t> read_list(const std::string& file, std::int64_t total_rows) {
    const FileHandle handle = open_hdf5(file);
    if (H5Lexists(handle.get(), "/runner", H5P_DEFAULT) <= 0 ||
        H5Lexists(handle.get(), row_hashes_dataset, H5P_DEFAULT) <= 0) {
        refuse(file, "there are none");
    }
    const DatasetHandle dataset = open_dataset(handle, file, row_hashes_dataset);
    const TypeHandle type(hdf5_must(H5Dget_type(dataset.get()), "H5Dget_type"));
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    std::array<hsize_t, 2> shape{};
    if (element_type_of(type.get()) != ElementType::uint64 ||
        H5Sget_simple_extent_ndims(space.get()) != 2 ||
        H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) != 2 || shape[1] != fields ||
        shape[0] > static_cast<hsize_t>(total_rows) ||
        shape[0] * (fields * sizeof(std::uint64_t)) / largest_expansion >
            H5Dget_storage_size(dataset.get())) {
        refuse(file, "they are not n × 3 numbers, with n up to the rows' number");
    }
    std::vector<std::uint64_t> list(shape[0] * fields);
    if (H5Dread(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()) < 0) {
        throw_hdf5(ExitCode::input, "cannot read the checksums",
                   file_and_dataset(file, row_hashes_dataset));
    }
    return list;
}

void store_list(DatasetHandle dataset, const std::string& file,
                const std::vector<RowHash>& hashes) {
    std::vector<std::uint64_t> list;
    list.reserve(hashes.size() * fields);
    for (const RowHash& run : hashes) {
        list.insert(list.end(), {static_cast<std::uint64_t>(run.first),
                                 static_cast<std::uint64_t>(run.rows), run.hash});
    }
    if (!dataset.valid() ||
        H5Dwrite(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()) <
            0 ||
        !dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot store the checksums",
                   file_and_dataset(file, row_hashes_dataset));
    }
}

} // namespace

std::uint64_t hash_bytes(const std::byte* data, std::int64_t bytes) {
    return XXH3_64bits(data, static_cast<std::size_t>(bytes));
}

BytesHasher::BytesHasher() : state_(XXH3_createState()) {
    if (!state_) {
        throw std::bad_alloc();
    }
    (void)XXH3_64bits_reset(state_.get()); // fails for a null pointer only; so does adding
}

void BytesHasher::add(const std::byte* data, std::int64_t bytes) {
    (void)XXH3_64bits_update(state_.get(), data, static_cast<std::size_t>(bytes));
}

std::uint64_t BytesHasher::hash() const { return XXH3_64bits_digest(state_.get()); }

void BytesHasher::Free::operator()(XXH3_state_s* state) const noexcept {
    (void)XXH3_freeState(state);
}

void write_row_hashes(const std::string& file, const std::vector<RowHash>& hashes) {
    FileHandle handle = update_hdf5(file);
    const std::array<hsize_t, 2> shape = {hashes.size(), fields};
    const SpaceHandle space(
        hdf5_must(H5Screate_simple(2, shape.data(), nullptr), "H5Screate_simple"));
    const PropertyHandle links(hdf5_must(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group");
    const PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    store_list(DatasetHandle(H5Dcreate2(handle.get(), row_hashes_dataset, H5T_STD_U64LE,
                                        space.get(), links.get(), creation.get(), H5P_DEFAULT)),
               file, hashes);
    close_hdf5(std::move(handle), file);
}

void replace_row_hashes(const std::string& file, const std::vector<RowHash>& hashes) {
    FileHandle handle = update_hdf5(file);
    store_list(open_dataset(handle, file, row_hashes_dataset), file, hashes);
    close_hdf5(std::move(handle), file);
}

std::vector<RowHash> read_row_hashes(const std::string& file, std::int64_t total_rows) {
    const std::vector<std::uint64_t> list = read_list(file, total_rows);
    std::vector<RowHash> hashes;
    std::int64_t next = 0;
    for (std::size_t i = 0; i < list.size(); i += fields) {
        const RowHash run{static_cast<std::int64_t>(list[i]),
                          static_cast<std::int64_t>(list[i + 1]), list[i + 2]};
        if (run.first != next || run.rows < 1 || run.rows > total_rows - next) {
            refuse(file, "line " + std::to_string(i / fields) +
                             " does not go on where the line "
                             "before ends");
        }
        next += run.rows;
        hashes.push_back(run);
    }
    if (next != total_rows) {
        refuse(file,
               "they end at row " + std::to_string(next) + " of " + std::to_string(total_rows));
    }
    return hashes;
}

} // namespace runner
