// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/check_levels.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/files/own_file.hpp"
#include "io/filters/packer.hpp"
#include "io/input/file_access.hpp"
#include "io/input/stored_places.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/written_format.hpp"
#include "runner/verify/stored_boxes.hpp"
#include "runner/verify/verify.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <system_error>

namespace runner::verify {
namespace {

std::array<std::int64_t, 3> chunk_extents(const OutputDataset& output) {
    return Volumes(ChunkGrid(output.array, output.layout).chunk()).extents;
}

/// What a thread compares levels with.
struct LevelReader {
    StoredBoxes image;
    std::vector<std::unique_ptr<StoredBoxes>> levels;
    LevelMaker maker;
};

/// Makes chunks of a level of the stored image. For one thread.
class LevelChunkMaker {
  public:
    LevelChunkMaker(const LevelSweep& sweep, const OutputDataset& image,
                    const DatasetLayout& places)
        : sweep_(sweep), level_(sweep.levels().front()),
          grid_(level_.dataset.array, level_.dataset.layout), image_(image, places), maker_(sweep),
          packer_(level_.dataset.layout, grid_.chunk_bytes(), level_.dataset.array) {}

    std::vector<std::byte> packed(std::int64_t chunk) {
        std::vector<std::byte> whole(static_cast<std::size_t>(grid_.chunk_bytes()));
        const auto used = cuts_chunks(level_.dataset.array, level_.dataset.layout)
                              ? static_cast<std::size_t>(grid_.cut_bytes(chunk))
                              : whole.size();
        const Volumes level(level_.dataset.array.shape);
        const std::int64_t depth = level.extents[0];
        const std::int64_t in_volume = Volumes(grid_.chunk()).extents[0];
        for (std::int64_t layer = 0; layer < grid_.layers(); layer += in_volume) {
            const auto part = grid_.part_in({chunk, layer});
            if (!part) {
                continue;
            }
            const ChunkGrid::Part top = grid_.part_at(*part);
            const std::int64_t frame = top.first_row / grid_.frame_rows();
            VolumeBox box{frame / depth,
                          {frame % depth, top.first_row % grid_.frame_rows(), top.first_column},
                          {1, top.rows, top.columns}};
            box.count[0] = std::min(in_volume, depth - box.start[0]);
            fill(box, whole.data() + layer * grid_.part_bytes());
        }
        const auto bytes = packer_.pack(std::span(whole).first(used));
        return {bytes.begin(), bytes.end()};
    }

  private:
    /// Makes a box of the level, and puts it into layers of a chunk.
    void fill(const VolumeBox& box, std::byte* layers) {
        const std::int64_t size = size_of(level_.dataset.array.type);
        const auto store = [&](std::size_t /*level*/, const VolumeBox& made,
                               const std::byte* elements) {
            for (std::int64_t z = 0; z < made.count[0]; ++z) {
                for (std::int64_t y = 0; y < made.count[1]; ++y) {
                    const std::int64_t row = made.start[1] - box.start[1] + y;
                    const std::int64_t column = made.start[2] - box.start[2];
                    std::copy_n(elements + (z * made.count[1] + y) * made.count[2] * size,
                                made.count[2] * size,
                                layers + (made.start[0] - box.start[0] + z) * grid_.part_bytes() +
                                    (row * grid_.chunk_columns() + column) * size);
                }
            }
        };
        for (const VolumeBox& region :
             sweep_.regions_in(box_of_image(box, level_.factors, sweep_.volumes()))) {
            maker_.make(
                region, [&](const VolumeBox& part, std::byte* to) { image_.read(part, to); },
                store);
        }
    }

    const LevelSweep& sweep_;
    const CoarserLevel& level_;
    ChunkGrid grid_;
    StoredBoxes image_;
    LevelMaker maker_;
    Packer packer_;
};

std::vector<std::unique_ptr<LevelChunkMaker>> makers_of(const LevelSweep& sweep,
                                                        const OutputDataset& image,
                                                        const DatasetLayout& places, int threads) {
    std::vector<std::unique_ptr<LevelChunkMaker>> makers;
    makers.reserve(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) {
        makers.push_back(std::make_unique<LevelChunkMaker>(sweep, image, places));
    }
    return makers;
}

/// The name of a level that is in the file of its image, for people.
std::string name_of_level(std::size_t index) { return "level " + std::to_string(index + 1); }

/// The wrong chunks of a level, by their numbers.
using WrongChunks = std::map<std::int64_t, StoredBoxes::WrongChunk>;

/// The files of a level that have them, each with the first one.
void add_wrong_files(const OutputDataset& level, const WrongChunks& wrong,
                     std::vector<WrongFile>& files) {
    const ChunkFinder finder(level);
    std::set<std::string> known;
    for (const auto& [chunk, found] : wrong) {
        FoundChunk first = finder.find(chunk);
        if (!known.insert(first.file).second) {
            continue;
        }
        if (found.what == StoredBoxes::WrongChunk::What::file && !first.shard.empty()) {
            first.chunk.clear();
        }
        std::string name = first.file;
        files.push_back({std::move(name), found.why, std::move(first)});
    }
}

/// Writes the chunks of a level again, each into its place in the file of the image.
void restore_level(const LevelSweep& sweep, const OutputDataset& image,
                   const DatasetLayout& of_image, const DatasetLayout& of_level, int threads) {
    IoThreads pool(threads);
    const auto makers = makers_of(sweep, image, of_image, threads);
    File file(image.file, File::Mode::update);
    pool.run(std::ssize(of_level.chunks), [&](std::int64_t item, int thread) {
        const ChunkPlace& place = of_level.chunks[static_cast<std::size_t>(item)];
        const std::vector<std::byte> packed =
            makers[static_cast<std::size_t>(thread)]->packed(place.index);
        if (std::ssize(packed) != place.bytes) {
            throw Error(ExitCode::output, {"cannot repair a coarser level", image.file,
                                           "this version of the library packs it to another size",
                                           "Run the job again with output.overwrite = true"});
        }
        file.write(place.offset, place.bytes, packed.data());
    });
    file.sync();
    file.close();
}

/// Writes a file of a level again.
void restore_file(const LevelSweep& sweep, const OutputDataset& image, const DatasetLayout& places,
                  const FileOfChunks& file, int threads) {
    const OutputDataset& level = sweep.levels().front().dataset;
    IoThreads pool(threads);
    const auto makers = makers_of(sweep, image, places, threads);
    std::vector<std::vector<std::byte>> packed(file.chunks.size());
    pool.run(std::ssize(packed), [&](std::int64_t item, int thread) {
        const auto own = static_cast<std::size_t>(item);
        if (file.chunks[own] >= 0) {
            packed[own] = makers[static_cast<std::size_t>(thread)]->packed(file.chunks[own]);
        }
    });
    std::vector<std::byte> bytes;
    std::vector<std::int64_t> sizes;
    for (std::vector<std::byte>& chunk : packed) {
        sizes.push_back(std::ssize(chunk));
        bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        std::vector<std::byte>().swap(chunk);
    }
    const std::vector<std::byte> tail = folder_of(level.layout)->tail(level, file, sizes);
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    const std::filesystem::path path = std::filesystem::path(level.file) / file.name;
    std::error_code failure;
    std::filesystem::create_directories(path.parent_path(), failure); // or it fails below
    replace_file(path.string(), bytes, Durable::yes);
}

} // namespace

std::vector<DatasetLayout> places_of_levels(FileAccess& files, const OutputDataset& image) {
    if (has_levels_in_file(image.layout.format)) {
        return layouts_in_file(image);
    }
    std::vector<DatasetLayout> places = {stored_places(files, image)};
    for (const CoarserLevel& level : coarser_levels(image)) {
        places.push_back(stored_places(files, level.dataset));
    }
    return places;
}

std::vector<WrongFile> check_levels(FileAccess& files, const FinishedOutput& output,
                                    std::optional<std::int64_t> sample, int threads) {
    const OutputDataset image = output.dataset();
    const LevelSweep sweep(image.array, coarser_levels(image), chunk_extents(image));
    const bool in_file = has_levels_in_file(image.layout.format);
    std::vector<DatasetLayout> places = places_of_levels(files, image);
    std::vector<std::unique_ptr<LevelReader>> readers;
    for (int thread = 0; thread < threads; ++thread) {
        readers.push_back(std::make_unique<LevelReader>(
            LevelReader{StoredBoxes(image, places.front()), {}, LevelMaker(sweep)}));
        for (std::size_t i = 0; i < sweep.levels().size(); ++i) {
            readers.back()->levels.push_back(
                std::make_unique<StoredBoxes>(sweep.levels()[i].dataset, places[i + 1]));
        }
    }
    std::mutex mutex;
    std::vector<WrongChunks> wrong(sweep.levels().size());
    const auto mark = [&](std::size_t level, StoredBoxes::WrongChunk found) {
        const std::lock_guard lock(mutex);
        wrong[level].emplace(found.chunk, std::move(found));
    };
    const std::int64_t all = sweep.regions();
    const std::vector<std::int64_t> regions = spread(sample.value_or(all), all);
    IoThreads pool(threads);
    pool.run(std::ssize(regions), [&](std::int64_t item, int thread) {
        LevelReader& reader = *readers[static_cast<std::size_t>(thread)];
        reader.maker.make(
            sweep.region(regions[static_cast<std::size_t>(item)]),
            [&](const VolumeBox& box, std::byte* to) { reader.image.read(box, to); },
            [&](std::size_t level, const VolumeBox& box, const std::byte* elements) {
                reader.levels[level]->compare(box, elements, [&](StoredBoxes::WrongChunk found) {
                    mark(level, std::move(found));
                });
            });
    });
    std::vector<WrongFile> listed;
    for (std::size_t level = 0; level < wrong.size(); ++level) {
        if (!wrong[level].empty() && in_file) {
            listed.push_back({name_of_level(level), wrong[level].begin()->second.why});
        } else if (!wrong[level].empty()) {
            add_wrong_files(sweep.levels()[level].dataset, wrong[level], listed);
        }
    }
    std::sort(listed.begin(), listed.end(),
              [](const WrongFile& a, const WrongFile& b) { return a.name < b.name; });
    return listed;
}

void repair_levels(FileAccess& files, const FinishedOutput& output,
                   const std::vector<WrongFile>& wrong, int threads) {
    const OutputDataset image = output.dataset();
    std::set<std::string> names;
    for (const WrongFile& each : wrong) {
        names.insert(each.name);
    }
    if (has_levels_in_file(image.layout.format)) {
        const std::vector<DatasetLayout> all = layouts_in_file(image);
        const std::vector<CoarserLevel> levels = coarser_levels(image);
        for (std::size_t i = 0; i < levels.size(); ++i) {
            if (names.contains(name_of_level(i))) {
                const LevelSweep sweep(image.array, {levels[i]}, chunk_extents(image));
                restore_level(sweep, image, all.front(), all[i + 1], threads);
            }
        }
        return;
    }
    const DatasetLayout places = stored_places(files, image);
    for (const CoarserLevel& level : coarser_levels(image)) {
        const LevelSweep sweep(image.array, {level}, chunk_extents(image));
        const FolderOfChunks& folder = *folder_of(level.dataset.layout);
        for (std::int64_t i = 0; i < folder.files(level.dataset); ++i) {
            const FileOfChunks file = folder.file(level.dataset, i);
            if (names.contains(file.name)) {
                restore_file(sweep, image, places, file, threads);
            }
        }
    }
}

} // namespace runner::verify
