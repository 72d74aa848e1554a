// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/level_files.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/filters/packer.hpp"
#include "io/levels/channel_extremes.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/levels/near_runs.hpp"
#include "io/output/folder_files.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/packed_boxes.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// What is unpacked together of packed parts.
std::array<std::int64_t, 3> grain_of(const ChunkGrid& grid) {
    return {1, grid.chunk_rows(), grid.chunk_columns()};
}

/// Chunks of a level of the sweep, which outlives it, whose pieces are at the place.
class LevelChunks final : public ChunkSource {
  public:
    LevelChunks(const LevelSweep& sweep, std::size_t level, const LevelPlace& place)
        : LevelChunks(sweep, level, sweep.levels()[level].dataset, place) {}

    std::span<const std::byte> packed(std::int64_t index) override {
        whole_.assign(static_cast<std::size_t>(grid_.chunk_bytes()), std::byte{0});
        const auto used = cuts_ ? static_cast<std::size_t>(grid_.cut_bytes(index)) : whole_.size();
        for (std::int64_t layer = 0; layer < grid_.layers(); ++layer) {
            if (const std::optional<std::int64_t> part = grid_.part_in({index, layer})) {
                read(grid_.part_at(*part), whole_.data() + layer * grid_.part_bytes());
            }
        }
        return packer_.pack(std::span(whole_).first(used));
    }

    static std::int64_t memory(const OutputLayout& layout, std::int64_t chunk_bytes) {
        return chunk_bytes + Packer::memory(layout, chunk_bytes) + NearRuns::most_span;
    }

  private:
    LevelChunks(const LevelSweep& sweep, std::size_t index, const OutputDataset& level,
                const LevelPlace& place)
        : sweep_(sweep), level_(index), size_(size_of(level.array.type)),
          depth_(Volumes(level.array.shape).extents[0]),
          cuts_(cuts_chunks(level.array, level.layout)), place_(place),
          grid_(level.array, level.layout),
          packer_(level.layout, grid_.chunk_bytes(), level.array) {}

    void read(const ChunkGrid::Part& part, std::byte* to) {
        const std::int64_t frame = part.first_row / grid_.frame_rows();
        const VolumeBox box{
            frame / depth_,
            {frame % depth_, part.first_row % grid_.frame_rows(), part.first_column},
            {1, part.rows, part.columns}};
        sweep_.each_run(level_, box, [&](std::int64_t at, std::int64_t in_box, std::int64_t count) {
            std::byte* const run =
                to +
                (in_box / part.columns * grid_.chunk_columns() + in_box % part.columns) * size_;
            if (place_.memory != nullptr) {
                std::copy_n(place_.memory + at * size_, count * size_, run);
            } else {
                runs_.add(place_.begin + at * size_, count * size_, run);
            }
        });
        if (place_.memory == nullptr) {
            runs_.read(*place_.file);
        }
    }

    const LevelSweep& sweep_;
    std::size_t level_;
    std::int64_t size_;
    std::int64_t depth_;
    bool cuts_; ///< as PackedWriter's
    LevelPlace place_;
    ChunkGrid grid_;
    Packer packer_;
    std::vector<std::byte> whole_;
    NearRuns runs_; ///< of a part, in a file
};

int at_once(const AssemblyShare& share, std::int64_t bytes) {
    return static_cast<int>(std::clamp<std::int64_t>(
        1 + share.memory / std::max<std::int64_t>(bytes, 1), 1, share.threads));
}

std::int64_t reducing_bytes(const LevelSweep& sweep, const ChunkGrid& grid) {
    return sweep.memory() + PackedBoxes::memory(grid);
}

/// A rank's share of the regions that are not made yet.
std::vector<std::int64_t> missing_regions(const LevelSweep& sweep, const AssemblyShare& share,
                                          const MadeRegions& made) {
    const std::vector<std::int64_t> all = sweep.regions_without(made);
    return {all.begin() + std::ssize(all) * share.rank / share.ranks,
            all.begin() + std::ssize(all) * (share.rank + 1) / share.ranks};
}

/// Makes the elements that all levels have of regions. `reader` is called with the number of a
/// thread and gives what reads boxes of the image there.
template <class Reader>
void sweep_levels(const LevelSweep& sweep, IoThreads& pool, std::span<const std::int64_t> regions,
                  const Reader& reader, const LevelMaker::Take& store) {
    std::vector<LevelMaker> makers(static_cast<std::size_t>(pool.threads()), LevelMaker(sweep));
    pool.run(std::ssize(regions), [&](std::int64_t item, int thread) {
        makers[static_cast<std::size_t>(thread)].make(
            sweep.region(regions[static_cast<std::size_t>(item)]), reader(thread), store);
    });
}

/// The same of the packed chunks of the image. Each region's elements of a level are written as one
/// piece (LevelSweep::begin_of()), since a thread that writes to a file waits for those before it.
/// Returns what the share has of the extremes of channels.
Extremes sweep_packed(const OutputDataset& output, const ChunkGrid& grid, const LevelSweep& sweep,
                      const std::vector<LevelPlace>& places, const AssemblyShare& share,
                      const MadeRegions& made = {}) {
    const std::vector<std::int64_t> regions = missing_regions(sweep, share, made);
    if (regions.empty()) {
        return {};
    }
    const PackedPieces pieces(output);
    IoThreads pool(at_once(share, reducing_bytes(sweep, grid)));
    std::vector<std::unique_ptr<PackedBoxes>> boxes;
    boxes.reserve(static_cast<std::size_t>(pool.threads()));
    for (int thread = 0; thread < pool.threads(); ++thread) {
        boxes.push_back(std::make_unique<PackedBoxes>(output, grid, pieces));
    }
    std::vector<ChannelExtremes> counts(boxes.size(), ChannelExtremes(output));
    sweep_levels(
        sweep, pool, regions,
        [&](int thread) {
            const auto own = static_cast<std::size_t>(thread);
            return
                [&image = *boxes[own], &count = counts[own]](const VolumeBox& box, std::byte* to) {
                    image.read(box, to);
                    count.take(box, to);
                };
        },
        store_at(sweep, places));
    Extremes found;
    for (const ChannelExtremes& count : counts) {
        join(found, count.found());
    }
    return found;
}

/// The sweep of an image whose elements lie dense.
LevelSweep dense_sweep(const OutputDataset& output) {
    return {output.array, coarser_levels(output), {1, 1, 1}};
}

/// The same of an image whose elements are in its file as they are, and behind them the levels'.
void sweep_dense(const OutputDataset& output, const AssemblyShare& share) {
    const DataPlace image = output.layout.format->place(output);
    File file(output.file, File::Mode::update);
    const LevelSweep sweep = dense_sweep(output);
    std::vector<Volumes> volumes;
    std::vector<std::int64_t> begins;
    std::int64_t begin = image.begin + image.bytes;
    for (const CoarserLevel& level : sweep.levels()) {
        volumes.emplace_back(level.dataset.array.shape);
        begins.push_back(begin);
        begin += byte_count(level.dataset.array);
    }
    const std::int64_t size = size_of(output.array.type);
    IoThreads pool(at_once(share, sweep.memory()));
    sweep_levels(
        sweep, pool, missing_regions(sweep, share, {}),
        [&](int /*thread*/) {
            return [&](const VolumeBox& box, std::byte* to) {
                each_run(sweep.volumes(), box,
                         [&](std::int64_t at, std::int64_t in_box, std::int64_t count) {
                             file.read(image.begin + at * size, count * size, to + in_box * size);
                         });
            };
        },
        [&](std::size_t level, const VolumeBox& box, const std::byte* elements) {
            each_run(
                volumes[level], box, [&](std::int64_t at, std::int64_t in_box, std::int64_t count) {
                    file.write(begins[level] + at * size, count * size, elements + in_box * size);
                });
        });
    if (share.sync == RowWriter::Sync::yes) { // by the node that wrote it
        file.sync();
    }
    file.close();
}

/// What packs the chunks of a level whose pieces are at the place, one for each thread.
std::vector<std::unique_ptr<ChunkSource>> level_sources(const LevelSweep& sweep, std::size_t level,
                                                        const LevelPlace& place,
                                                        const AssemblyShare& share) {
    const OutputDataset& dataset = sweep.levels()[level].dataset;
    const ChunkGrid grid(dataset.array, dataset.layout);
    const int threads = at_once(share, LevelChunks::memory(dataset.layout, grid.chunk_bytes()));
    std::vector<std::unique_ptr<ChunkSource>> sources;
    sources.reserve(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) {
        sources.push_back(std::make_unique<LevelChunks>(sweep, level, place));
    }
    return sources;
}

} // namespace

LevelSweep sweep_of(const OutputDataset& output, const ChunkGrid& grid) {
    return {output.array, coarser_levels(output), grain_of(grid)};
}

void prepare_levels(const OutputDataset& output, const AssemblyShare& share) {
    if (share.rank > 0 || folder_of(output.layout) == nullptr) {
        return;
    }
    for (const CoarserLevel& level : coarser_levels(output)) {
        const std::string path = elements_path(level.dataset);
        std::error_code failure;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                            failure); // or File says why not
        File file(path, File::Mode::create);
        file.resize(byte_count(level.dataset.array));
        file.close();
    }
}

Extremes reduce_levels(const OutputDataset& output, const AssemblyShare& share,
                       const MadeRegions& made) {
    if (coarser_levels(output).empty() && !stated_channels(output)) {
        return {};
    }
    if (folder_of(output.layout) == nullptr) {
        if (!is_packed(output.layout)) {
            sweep_dense(output, share);
        }
        return {};
    }
    const ChunkGrid grid(output.array, output.layout);
    const LevelSweep sweep = sweep_of(output, grid);
    LevelElements elements(sweep, LevelElements::Where::files);
    Extremes found = sweep_packed(output, grid, sweep, elements.places(), share, made);
    elements.close();
    return found;
}

std::vector<std::int64_t> append_levels(const OutputDataset& output, File& file, std::int64_t end,
                                        const AssemblyShare& share) {
    std::vector<std::int64_t> sizes;
    if (coarser_levels(output).empty()) {
        return sizes;
    }
    const ChunkGrid grid(output.array, output.layout);
    const LevelSweep sweep = sweep_of(output, grid);
    std::int64_t elements = end;
    for (const CoarserLevel& level : sweep.levels()) { // behind all that they may be packed to
        const ChunkGrid chunks(level.dataset.array, level.dataset.layout);
        elements += chunks.count() * most_packed_bytes(chunks.chunk_bytes());
    }
    std::vector<LevelPlace> places;
    for (const CoarserLevel& level : sweep.levels()) {
        places.push_back({&file, elements});
        elements += byte_count(level.dataset.array);
    }
    sweep_packed(output, grid, sweep, places, {.threads = share.threads, .memory = share.memory});
    for (std::size_t i = 0; i < places.size(); ++i) {
        const OutputDataset& level = sweep.levels()[i].dataset;
        std::vector<std::int64_t> chunks(
            static_cast<std::size_t>(ChunkGrid(level.array, level.layout).count()));
        std::iota(chunks.begin(), chunks.end(), 0);
        const auto sources = level_sources(sweep, i, places[i], share);
        ChunkPackers packers(sources);
        append_packed(packers, chunks, file, end, sizes);
    }
    file.resize(end);
    return sizes;
}

void store_level(const OutputDataset& output, std::size_t level, const AssemblyShare& share) {
    const LevelSweep sweep = sweep_of(output, ChunkGrid(output.array, output.layout));
    const File elements(elements_path(sweep.levels()[level].dataset), File::Mode::read);
    store_level(sweep, level, {&elements}, share);
}

void store_level(const LevelSweep& sweep, std::size_t level, const LevelPlace& place,
                 const AssemblyShare& share) {
    store_folder_files(sweep.levels()[level].dataset, share,
                       level_sources(sweep, level, place, share));
}

Extremes make_levels(const OutputDataset& output, const AssemblyShare& share) {
    prepare_levels(output, share);
    Extremes found = reduce_levels(output, share);
    const std::size_t levels =
        folder_of(output.layout) == nullptr ? 0 : coarser_levels(output).size();
    for (std::size_t level = 0; level < levels; ++level) {
        store_level(output, level, share);
    }
    return found;
}

std::int64_t levels_memory(const ArrayInfo& array, const OutputLayout& layout) {
    const OutputDataset output{{}, {}, array, layout};
    const FolderOfChunks* const folder = folder_of(layout);
    if (coarser_levels(output).empty() && (folder == nullptr || folder->channels == nullptr)) {
        return 0;
    }
    // Axes that are not known are those of the largest blocks.
    if (!is_packed(layout)) {
        return dense_sweep(output).memory();
    }
    const ChunkGrid grid(array, layout);
    return std::max(reducing_bytes(sweep_of(output, grid), grid),
                    LevelChunks::memory(layout, grid.chunk_bytes()));
}

std::int64_t levels_room(const ArrayInfo& array, const OutputLayout& layout) {
    OutputDataset output{{}, {}, array, layout};
    if (layout.pyramid.factors.empty()) {
        output.layout.pyramid.factors = {2, 2}; // the largest levels, those of z as it is
    }
    const std::int64_t times = is_packed(layout) ? 2 : 1; // the elements, and packed
    std::int64_t bytes = 0;
    for (const CoarserLevel& level : coarser_levels(output)) {
        bytes += times * byte_count(level.dataset.array);
    }
    return bytes;
}

} // namespace runner
