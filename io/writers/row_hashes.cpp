// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_hashes.hpp"

#include "base/format.hpp"
#include "base/rounding.hpp"
#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/input/file_access.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace runner {
namespace {

constexpr std::int64_t fields = 3;

// Deflate makes at most so many bytes out of one; a list that claims more is not there.
constexpr std::int64_t largest_expansion = 1032;

[[noreturn]] void refuse(const std::string& file, const std::string& name, const std::string& why) {
    throw Error(ExitCode::input, {"cannot take the checksums", file + ":" + name, why,
                                  "Only a finished output of this program has them"});
}

/// The list's elements: three to a run of rows.
std::vector<std::uint64_t> read_list(FileAccess& files, const std::string& file,
                                     const std::string& name, std::int64_t total_rows) {
    if (!files.has_dataset(file, name)) {
        refuse(file, name, "there are none");
    }
    const DatasetLayout layout = files.layout(file, name);
    const std::vector<std::int64_t>& shape = layout.info.array.shape;
    constexpr std::int64_t line = fields * sizeof(std::uint64_t);
    if (layout.info.array.type != ElementType::uint64 || shape.size() != 2 || shape[1] != fields ||
        shape[0] > total_rows || shape[0] * line / largest_expansion > layout.info.stored_bytes) {
        refuse(file, name, "they are not n × 3 numbers, with n up to the rows' number");
    }
    std::vector<std::uint64_t> list(static_cast<std::size_t>(shape[0] * fields));
    files.open(layout, 1)->read(0, shape[0], reinterpret_cast<std::byte*>(list.data()));
    return list;
}

std::vector<std::uint64_t> list_of(const std::vector<RowHash>& hashes) {
    std::vector<std::uint64_t> list;
    list.reserve(hashes.size() * static_cast<std::size_t>(fields));
    for (const RowHash& run : hashes) {
        list.insert(list.end(), {static_cast<std::uint64_t>(run.first),
                                 static_cast<std::uint64_t>(run.rows), run.hash});
    }
    return list;
}

void store_list(DatasetHandle dataset, const std::string& file, const std::string& name,
                const std::vector<RowHash>& hashes) {
    const std::vector<std::uint64_t> list = list_of(hashes);
    if (!dataset.valid() ||
        H5Dwrite(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()) <
            0 ||
        !dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot store the checksums", file_and_dataset(file, name));
    }
}

} // namespace

std::string gap_in(const std::vector<RowHash>& hashes, std::int64_t total_rows) {
    std::int64_t next = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const RowHash& run = hashes[i];
        if (run.first != next || run.rows < 1 || run.rows > total_rows - next) {
            return fmt::format("line {} does not begin where the line before ends", i);
        }
        next += run.rows;
    }
    return next == total_rows ? "" : fmt::format("they end at row {} of {}", next, total_rows);
}

std::string digest_of_rows(const std::vector<RowHash>& hashes) {
    const std::vector<std::uint64_t> list = list_of(hashes);
    return digest_of(std::as_bytes(std::span(list)));
}

void write_row_hashes(const std::string& file, const std::vector<RowHash>& hashes,
                      const std::string& name) {
    FileHandle handle = update_hdf5(file);
    const std::array<hsize_t, 2> shape = {hashes.size(), static_cast<hsize_t>(fields)};
    const SpaceHandle space(
        hdf5_must(H5Screate_simple(2, shape.data(), nullptr), "H5Screate_simple"));
    const PropertyHandle links(hdf5_must(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group");
    const PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    store_list(DatasetHandle(H5Dcreate2(handle.get(), name.c_str(), H5T_STD_U64LE, space.get(),
                                        links.get(), creation.get(), H5P_DEFAULT)),
               file, name, hashes);
    close_hdf5(std::move(handle), file);
}

void replace_row_hashes(FileAccess& files, const std::string& file,
                        const std::vector<RowHash>& hashes) {
    const DatasetLayout layout = files.layout(file, row_hashes_dataset);
    const std::vector<std::uint64_t> list = list_of(hashes);
    const auto bytes = static_cast<std::int64_t>(list.size() * sizeof(std::uint64_t));
    if (layout.way != DatasetLayout::Way::positions || layout.holder != file ||
        byte_count(layout.info.array) != bytes) {
        throw Error(ExitCode::output,
                    {"cannot store the checksums", file_and_dataset(file, row_hashes_dataset),
                     "they are not stored as this program stores them",
                     "Run the job again with output.overwrite = true"});
    }
    File to(layout.holder, File::Mode::update);
    to.write(*layout.info.offset, bytes, reinterpret_cast<const std::byte*>(list.data()));
    to.sync();
    to.close();
}

std::vector<RowHash> read_row_list(FileAccess& files, const std::string& file,
                                   const std::string& name, std::int64_t total_rows) {
    const std::vector<std::uint64_t> list = read_list(files, file, name, total_rows);
    std::vector<RowHash> hashes;
    std::int64_t end = 0; // of the run before
    for (std::size_t i = 0; i < list.size(); i += static_cast<std::size_t>(fields)) {
        const RowHash run{static_cast<std::int64_t>(list[i]),
                          static_cast<std::int64_t>(list[i + 1]), list[i + 2]};
        if (run.first < end || run.first > total_rows || run.rows < 1 ||
            run.rows > total_rows - run.first) {
            refuse(file, name,
                   fmt::format("line {} does not begin where the line before ends, or behind it",
                               hashes.size()));
        }
        end = run.first + run.rows;
        hashes.push_back(run);
    }
    return hashes;
}

std::vector<RowHash> read_row_hashes(FileAccess& files, const std::string& file,
                                     std::int64_t total_rows) {
    const std::vector<std::uint64_t> list = read_list(files, file, row_hashes_dataset, total_rows);
    std::vector<RowHash> hashes;
    for (std::size_t i = 0; i < list.size(); i += static_cast<std::size_t>(fields)) {
        hashes.push_back({static_cast<std::int64_t>(list[i]),
                          static_cast<std::int64_t>(list[i + 1]), list[i + 2]});
    }
    if (const std::string gap = gap_in(hashes, total_rows); !gap.empty()) {
        refuse(file, row_hashes_dataset, gap);
    }
    return hashes;
}

std::vector<RowHash> RowHasher::hash(std::span<const RowsInMemory> all, std::int64_t row_bytes) {
    std::vector<RowHash> runs;
    std::vector<const std::byte*> from;
    for (const auto& [first, rows, data] : all) {
        const std::int64_t step = group_ == 1 ? std::max<std::int64_t>(1, run_bytes / row_bytes)
                                              : std::max<std::int64_t>(1, rows);
        for (std::int64_t row = 0; row < rows; row += step) {
            runs.push_back({first + row, std::min(step, rows - row), 0});
            from.push_back(data + row * row_bytes);
        }
    }
    // So many at a time that handing them out costs little beside hashing.
    const std::int64_t each =
        runs.empty() ? 1 : std::max<std::int64_t>(1, run_bytes / (runs.front().rows * row_bytes));
    threads_.run(ceil_divide(std::ssize(runs), each), [&](std::int64_t index, int /*thread*/) {
        const std::int64_t end = std::min(std::ssize(runs), (index + 1) * each);
        for (std::int64_t i = index * each; i < end; ++i) {
            RowHash& run = runs[static_cast<std::size_t>(i)];
            run.hash = hash_bytes(from[static_cast<std::size_t>(i)], run.rows * row_bytes);
        }
    });
    return runs;
}

} // namespace runner
