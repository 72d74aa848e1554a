// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/kept_frames.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace runner {
namespace {

/// Rows are copied in pieces of about so many bytes.
constexpr std::int64_t piece_bytes = 4 * MiB;

/// Rows of each frame.
std::int64_t rows_of_frame(const ArrayInfo& array) {
    return row_count(array) / array.shape.front();
}

ArrayInfo frames_of(ArrayInfo array, std::int64_t count) {
    array.shape.front() = count;
    return array;
}

SpaceHandle space_of(const ArrayInfo& array) {
    const std::vector<hsize_t> extents(array.shape.begin(), array.shape.end());
    return SpaceHandle(
        hdf5_must(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                  "H5Screate_simple"));
}

PropertyHandle dataset_creation() {
    PropertyHandle creation(hdf5_must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
    return creation;
}

void create(const FileHandle& handle, const std::string& file, const std::string& name,
            const ArrayInfo& array, const PropertyHandle& creation) {
    const PropertyHandle links(hdf5_must(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate"));
    hdf5_must(H5Pset_create_intermediate_group(links.get(), 1), "H5Pset_create_intermediate_group");
    hdf5_must(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8), "H5Pset_char_encoding");
    const TypeHandle type = memory_type(array);
    const SpaceHandle space = space_of(array);
    DatasetHandle dataset(H5Dcreate2(handle.get(), name.c_str(), type.get(), space.get(),
                                     links.get(), creation.get(), H5P_DEFAULT));
    if (!dataset.valid() || !dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot create the dataset", file_and_dataset(file, name),
                   "Choose another output.dataset");
    }
}

/// Frames of the virtual dataset that follow one another in it and in their source.
struct FrameRun {
    std::int64_t first = 0;        ///< there
    std::int64_t source_first = 0; ///< in the source
    std::int64_t count = 0;
};

std::vector<FrameRun> runs_of_frames(const std::vector<std::int64_t>& frames) {
    std::vector<FrameRun> runs;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (runs.empty() || frames[i] != runs.back().first + runs.back().count) {
            runs.push_back({frames[i], static_cast<std::int64_t>(i), 0});
        }
        ++runs.back().count;
    }
    return runs;
}

/// A dataset's space with these frames selected, beside those that are.
void select_frames(const SpaceHandle& space, const ArrayInfo& array, H5S_seloper_t how,
                   std::int64_t first, std::int64_t frames) {
    std::vector<hsize_t> start(array.shape.size(), 0);
    std::vector<hsize_t> count(array.shape.begin(), array.shape.end());
    start.front() = static_cast<hsize_t>(first);
    count.front() = static_cast<hsize_t>(frames);
    hdf5_must(H5Sselect_hyperslab(space.get(), how, start.data(), nullptr, count.data(), nullptr),
              "H5Sselect_hyperslab");
}

void map_spaces(const PropertyHandle& creation, const SpaceHandle& here, const char* source,
                const SpaceHandle& there) {
    hdf5_must(H5Pset_virtual(creation.get(), here.get(), ".", source, there.get()),
              "H5Pset_virtual");
}

/// More runs are one mapping of a source, whose selection lists them.
constexpr std::size_t most_mappings = 512;

/// Has all frames of the virtual dataset be those of the two sources in the same file. A mapping
/// is one run of frames, and mappings are in the order of the frames: programs that take a virtual
/// dataset apart, as nxtomo does, expect that.
void map_frames(const PropertyHandle& creation, const ArrayInfo& all, const FrameSplit& frames) {
    struct Mapped {
        FrameRun run;
        const char* source;
        std::int64_t of;
    };
    std::vector<Mapped> mapped;
    for (const auto& [list, source] : {std::pair(&frames.made, made_frames_dataset),
                                       std::pair(&frames.kept, kept_frames_dataset)}) {
        const ArrayInfo array = frames_of(all, std::ssize(*list));
        const std::vector<FrameRun> runs = runs_of_frames(*list);
        if (runs.size() > most_mappings) {
            const SpaceHandle here = space_of(all);
            hdf5_must(H5Sselect_none(here.get()), "H5Sselect_none");
            for (const FrameRun& run : runs) {
                select_frames(here, all, H5S_SELECT_OR, run.first, run.count);
            }
            map_spaces(creation, here, source, space_of(array));
            continue;
        }
        for (const FrameRun& run : runs) {
            mapped.push_back({run, source, array.shape.front()});
        }
    }
    std::sort(mapped.begin(), mapped.end(),
              [](const Mapped& a, const Mapped& b) { return a.run.first < b.run.first; });
    for (const auto& [run, source, count] : mapped) {
        const SpaceHandle here = space_of(all);
        const SpaceHandle there = space_of(frames_of(all, count));
        select_frames(here, all, H5S_SELECT_SET, run.first, run.count);
        select_frames(there, all, H5S_SELECT_SET, run.source_first, run.count);
        map_spaces(creation, here, source, there);
    }
}

/// Kept frames, dense and in one place.
void create_kept(const FileHandle& handle, const std::string& file, const ArrayInfo& array) {
    const PropertyHandle creation = dataset_creation();
    hdf5_must(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
    hdf5_must(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    create(handle, file, kept_frames_dataset, array, creation);
}

/// Passes all rows on in pieces that lie in one frame each: take(first row, rows, elements).
template <class Take> void for_pieces(RowReader& kept, const Take& take) {
    const ArrayInfo& array = kept.info().array;
    const std::int64_t row = row_bytes(array);
    const std::int64_t in_frame = rows_of_frame(array);
    const std::int64_t most = std::clamp<std::int64_t>(piece_bytes / row, 1, in_frame);
    std::vector<std::byte> bytes(static_cast<std::size_t>(most * row));
    for (std::int64_t first = 0; first < row_count(array);) {
        const std::int64_t rows = std::min(most, in_frame - first % in_frame);
        kept.read(first, rows, bytes.data());
        take(first, rows, bytes.data());
        first += rows;
    }
}

/// The checksum of kept rows, by their numbers in the virtual dataset.
RowHash hash_in(const FrameSplit& frames, const ArrayInfo& kept, std::int64_t first,
                std::int64_t rows, const std::byte* elements) {
    const std::int64_t in_frame = rows_of_frame(kept);
    const std::int64_t frame = frames.kept[static_cast<std::size_t>(first / in_frame)];
    return {frame * in_frame + first % in_frame, rows,
            hash_bytes(elements, rows * row_bytes(kept))};
}

std::int64_t place_of_kept(FileAccess& files, const std::string& file, const ArrayInfo& array) {
    const DatasetLayout layout = files.layout(file, kept_frames_dataset);
    if (layout.way != DatasetLayout::Way::positions || layout.holder != file ||
        layout.info.array != array || !layout.info.offset) {
        throw Error(ExitCode::output,
                    {"cannot store flats and darks", file_and_dataset(file, kept_frames_dataset),
                     "they are not stored as this program stores them",
                     "Run the job again with output.overwrite = true"});
    }
    return *layout.info.offset;
}

} // namespace

FrameSplit FrameSplit::of(std::vector<std::int64_t> kept, std::int64_t count) {
    FrameSplit split{{}, std::move(kept)};
    auto next = split.kept.begin();
    for (std::int64_t frame = 0; frame < count; ++frame) {
        if (next != split.kept.end() && *next == frame) {
            ++next;
        } else {
            split.made.push_back(frame);
        }
    }
    return split;
}

std::vector<std::string> datasets_of_frames(const std::string& joined) {
    return {made_frames_dataset, kept_frames_dataset, joined};
}

void write_kept_frames(const OutputDataset& output, const std::string& joined,
                       const FrameSplit& frames, RowReader& kept) {
    const ArrayInfo array = kept.info().array;
    const ArrayInfo all = frames_of(output.array, frames.count());
    FileHandle handle = update_hdf5(output.file);
    create_kept(handle, output.file, array);
    const PropertyHandle creation = dataset_creation();
    map_frames(creation, all, frames);
    create(handle, output.file, joined, all, creation);
    close_hdf5(std::move(handle), output.file);
    const std::int64_t place =
        *of_output([&] { return inspect_layout(output.file, kept_frames_dataset).info.offset; });
    std::vector<RowHash> hashes;
    File file(output.file, File::Mode::update);
    for_pieces(kept, [&](std::int64_t first, std::int64_t rows, const std::byte* elements) {
        file.write(place + first * row_bytes(array), rows * row_bytes(array), elements);
        hashes.push_back(hash_in(frames, array, first, rows, elements));
    });
    file.close();
    write_row_hashes(output.file, hashes, kept_hashes_dataset);
}

void replace_kept_frames(FileAccess& files, const std::string& file, RowReader& kept) {
    const std::int64_t row = row_bytes(kept.info().array);
    const std::int64_t place = place_of_kept(files, file, kept.info().array);
    File to(file, File::Mode::update);
    for_pieces(kept, [&](std::int64_t first, std::int64_t rows, const std::byte* elements) {
        to.write(place + first * row, rows * row, elements);
    });
    to.sync();
    to.close();
}

std::vector<RowHash> hashes_of_kept(const FrameSplit& frames, RowReader& kept) {
    const ArrayInfo array = kept.info().array;
    std::vector<RowHash> hashes;
    for_pieces(kept, [&](std::int64_t first, std::int64_t rows, const std::byte* elements) {
        hashes.push_back(hash_in(frames, array, first, rows, elements));
    });
    return hashes;
}

std::vector<RowHash> read_kept_hashes(FileAccess& files, const std::string& file,
                                      const ArrayInfo& joined) {
    return read_row_list(files, file, kept_hashes_dataset, row_count(joined));
}

FrameSplit split_of(const std::vector<RowHash>& kept, const ArrayInfo& joined,
                    const std::string& file) {
    const std::int64_t in_frame = rows_of_frame(joined);
    std::vector<std::int64_t> frames;
    std::int64_t end = 0; // of the rows of the last frame
    const auto refuse_unless = [&](bool is_whole) {
        if (!is_whole) {
            throw Error(ExitCode::input,
                        {"cannot take the checksums", file_and_dataset(file, kept_hashes_dataset),
                         "they are not of whole frames",
                         "Only a finished output of this program has them"});
        }
    };
    for (const RowHash& run : kept) {
        const std::int64_t row = run.first % in_frame;
        refuse_unless(run.rows <= in_frame - row &&
                      (row == 0 ? end % in_frame == 0 : run.first == end));
        if (row == 0) {
            frames.push_back(run.first / in_frame);
        }
        end = run.first + run.rows;
    }
    refuse_unless(end % in_frame == 0);
    return FrameSplit::of(std::move(frames), joined.shape.front());
}

} // namespace runner
