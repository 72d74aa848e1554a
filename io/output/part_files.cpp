// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/part_files.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/files/own_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace runner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_part(const std::string& path, const std::string& why) {
    throw Error(ExitCode::output, {"cannot use the folder of the output's parts", path, why,
                                   "Move or rename it, or name another output.file"});
}

[[noreturn]] void fail_at_part(const std::string& what, const std::string& path,
                               const std::error_code& failure) {
    throw Error(ExitCode::output, {what, path, failure.message(), errno_remedy(failure.value())});
}

/// Whether there is a folder. @throws Error for anything else of its name.
bool has_folder(const std::string& folder) {
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(folder, failure);
    if (fs::exists(status) && !fs::is_directory(status)) {
        refuse_part(folder, "it is not a folder but a file or a link");
    }
    return fs::exists(status);
}

void check_part(const fs::directory_entry& entry) {
    const std::string path = entry.path().string();
    if (const std::string why = foreign_file(path); !why.empty()) {
        refuse_part(path, why);
    }
    std::error_code failure;
    if (!fs::is_regular_file(entry.symlink_status(failure))) {
        refuse_part(path, "it is no regular file");
    }
}

/// A part of more series than these is one mapping, whose selection lists the boxes.
constexpr std::size_t most_mappings = 4;

SpaceHandle space_of(const std::vector<std::int64_t>& shape) {
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    return SpaceHandle(
        hdf5_must(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                  "H5Screate_simple"));
}

/// Boxes of one extent, at equal distances along one axis: a selection that HDF5 stores in a few
/// numbers. Of boxes listed one by one it stores each, and adds each to the selection when the
/// dataset is opened: 20 to 60 ms for 4,096 of them.
struct BoxSeries {
    RowBox first;
    std::size_t axis = 0;
    std::int64_t distance = 0; ///< from start to start; 0 for one box
    std::int64_t boxes = 1;
    std::int64_t rows = 0; ///< of all boxes

    /// Adds the box that follows, if it is the next of the series.
    bool add(const RowBox& box) {
        const std::int64_t steps = boxes;
        std::vector<std::int64_t> from = first.start;
        if (steps == 1) {
            const auto differs = std::mismatch(from.begin(), from.end(), box.start.begin());
            if (differs.first == from.end()) {
                return false;
            }
            axis = static_cast<std::size_t>(differs.first - from.begin());
            distance = *differs.second - *differs.first;
        }
        from[axis] += steps * distance;
        if (box.count != first.count || box.start != from || distance < first.count[axis]) {
            return false;
        }
        ++boxes;
        rows += box.rows;
        return true;
    }

    void select(const SpaceHandle& space) const {
        const std::vector<hsize_t> start(first.start.begin(), first.start.end());
        std::vector<hsize_t> stride(first.count.begin(), first.count.end());
        std::vector<hsize_t> count(start.size(), 1);
        const std::vector<hsize_t> block(first.count.begin(), first.count.end());
        stride[axis] = static_cast<hsize_t>(std::max(distance, first.count[axis]));
        count[axis] = static_cast<hsize_t>(boxes);
        hdf5_must(H5Sselect_hyperslab(space.get(), H5S_SELECT_OR, start.data(), stride.data(),
                                      count.data(), block.data()),
                  "H5Sselect_hyperslab");
    }
};

void add_boxes(const std::vector<std::int64_t>& shape, std::int64_t first, std::int64_t rows,
               std::vector<BoxSeries>& series) {
    for (const std::int64_t end = first + rows; first < end;) {
        const RowBox box = box_at(shape, first, end);
        if (series.empty() || !series.back().add(box)) {
            series.push_back({box, 0, 0, 1, box.rows});
        }
        first += box.rows;
    }
}

SpaceHandle selected(const std::vector<std::int64_t>& shape, std::span<const BoxSeries> series) {
    SpaceHandle space = space_of(shape);
    hdf5_must(H5Sselect_none(space.get()), "H5Sselect_none");
    for (const BoxSeries& each : series) {
        each.select(space);
    }
    return space;
}

/// HDF5 takes %b in the name of a source for a number, and %% for %.
std::string source_name(const OutputDataset& output, std::int64_t part) {
    const std::string name = std::filesystem::path(output.parts.folder).filename().string() + "/" +
                             part_name(part, output.parts.set);
    std::string escaped;
    for (const char c : name) {
        escaped += c == '%' ? "%%" : std::string(1, c);
    }
    return escaped;
}

} // namespace

std::vector<std::string> part_files(const std::string& folder, std::optional<int> set) {
    std::vector<std::string> files;
    if (!has_folder(folder)) {
        return files;
    }
    std::error_code failure;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(".nfs")) {
            continue; // a removed file that is still open, on a network file system
        }
        const std::optional<int> its_set = set_of_part_name(name);
        if (!its_set) {
            refuse_part(folder, "it holds \"" + name + "\", which no part of an output is called");
        }
        check_part(*entry);
        if (!set || *set == *its_set) {
            files.push_back(entry->path().string());
        }
    }
    if (failure) {
        fail_at_part("cannot list the folder of the output's parts", folder, failure);
    }
    std::sort(files.begin(), files.end());
    return files;
}

void make_parts_folder(const std::string& folder) {
    if (const std::string why = foreign_owner(folder); !why.empty()) {
        refuse_part(folder, why);
    }
    std::error_code failure;
    if (!has_folder(folder) && !fs::create_directory(folder, failure) && failure) {
        fail_at_part("cannot make the folder of the output's parts", folder, failure);
    }
}

void remove_parts(const std::string& folder, std::optional<int> set) {
    if (!has_folder(folder)) {
        return;
    }
    // A file in memory takes a second for each 10 GB: several at once.
    constexpr std::int64_t most_at_once = 8;
    const std::vector<std::string> files = part_files(folder, set);
    IoThreads threads(
        static_cast<int>(std::clamp<std::int64_t>(std::ssize(files), 1, most_at_once)));
    threads.run(std::ssize(files), [&](std::int64_t index, int /*thread*/) {
        const std::string& file = files[static_cast<std::size_t>(index)];
        std::error_code failure;
        if (!fs::remove(file, failure) && failure) {
            fail_at_part("cannot remove a part of an earlier output", file, failure);
        }
    });
    std::error_code ignored;
    fs::remove(folder, ignored); // only where it is empty
}

PartsRecord record_of_parts(const OutputDataset& output) {
    PartsRecord record{output.parts, {}};
    for (const OutputDataset& part : part_datasets(output)) {
        record.bytes.push_back(File(part.file, File::Mode::update).size());
    }
    return record;
}

void sync_parts(const OutputDataset& output) {
    if (!output.parts.several()) {
        return;
    }
    std::string name;
    for (const OutputDataset& part : part_datasets(output)) {
        File(part.file, File::Mode::update).sync();
        name = part.file;
    }
    sync_folder_of(name);
    sync_folder_of(output.parts.folder);
}

void map_parts(const PropertyHandle& creation, const OutputDataset& output) {
    const std::vector<RowPiece> pieces = deal_rows(output.array, output.parts);
    for (std::int64_t part = 0; part < output.parts.parts; ++part) {
        std::vector<BoxSeries> all;
        for (const RowPiece& piece : pieces) {
            if (piece.source == part) {
                add_boxes(output.array.shape, piece.first, piece.rows, all);
            }
        }
        const std::vector<std::int64_t> shape = part_dataset(output, pieces, part).array.shape;
        const std::span<const BoxSeries> series = all;
        const std::size_t step = series.size() > most_mappings ? series.size() : 1;
        std::int64_t row = 0; // of the part
        for (std::size_t i = 0; i < series.size(); i += step) {
            std::int64_t rows = 0;
            for (const BoxSeries& each : series.subspan(i, step)) {
                rows += each.rows;
            }
            std::vector<BoxSeries> there;
            add_boxes(shape, row, rows, there);
            hdf5_must(H5Pset_virtual(creation.get(),
                                     selected(output.array.shape, series.subspan(i, step)).get(),
                                     source_name(output, part).c_str(), part_dataset_name,
                                     selected(shape, there).get()),
                      "H5Pset_virtual");
            row += rows;
        }
    }
}

} // namespace runner
