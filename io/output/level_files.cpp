// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/level_files.hpp"

#include "base/rounding.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/filters/packer.hpp"
#include "io/filters/unpacker.hpp"
#include "io/levels/level_sweep.hpp"
#include "io/output/folder_files.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace runner {
namespace {

std::string elements_path(const OutputDataset& level) {
    return level.file + "/" + folder_of(level.layout)->level_elements(level);
}

/// What is unpacked together of packed parts.
std::array<std::int64_t, 3> grain_of(const ChunkGrid& grid) {
    return {1, grid.chunk_rows(), grid.chunk_columns()};
}

LevelSweep sweep_of(const OutputDataset& output, const ChunkGrid& grid) {
    return {output.array, coarser_levels(output), grain_of(grid)};
}

/// Boxes of the image, of its packed parts. For one thread.
class PackedBoxes {
  public:
    PackedBoxes(const OutputDataset& output, const ChunkGrid& grid, const PackedParts& parts)
        : size_(size_of(output.array.type)), volumes_(output.array.shape), grid_(grid),
          parts_(parts), unpacker_(layout_filters(output.layout, output.array), grid.part_bytes()) {
    }

    void read(const VolumeBox& box, std::byte* to) {
        const std::int64_t down = ceil_divide(grid_.frame_rows(), grid_.chunk_rows());
        const std::int64_t across = ceil_divide(grid_.columns(), grid_.chunk_columns());
        const std::int64_t row_end = ceil_divide(box.start[1] + box.count[1], grid_.chunk_rows());
        const std::int64_t column_end =
            ceil_divide(box.start[2] + box.count[2], grid_.chunk_columns());
        for (std::int64_t z = 0; z < box.count[0]; ++z) {
            const std::int64_t frame = box.volume * volumes_.extents[0] + box.start[0] + z;
            std::byte* const layer = to + z * box.count[1] * box.count[2] * size_;
            for (std::int64_t i = box.start[1] / grid_.chunk_rows(); i < row_end; ++i) {
                for (std::int64_t j = box.start[2] / grid_.chunk_columns(); j < column_end; ++j) {
                    copy((frame * down + i) * across + j, i, j, box, layer);
                }
            }
        }
    }

  private:
    /// Copies what a part, the one of row i and column j of its frame's, has of the box.
    void copy(std::int64_t part, std::int64_t i, std::int64_t j, const VolumeBox& box,
              std::byte* layer) {
        parts_.take(part, grid_.place_of(part).chunk, packed_);
        const ChunkGrid::Part place = grid_.part_at(part);
        const std::byte* const from =
            unpacker_
                .unpack(packed_, 0, "part " + std::to_string(part) + " of a shard",
                        place.rows * grid_.chunk_columns() * size_) // at the end it may be cut
                .data();
        const std::int64_t top = i * grid_.chunk_rows();
        const std::int64_t left = j * grid_.chunk_columns();
        const std::int64_t row_begin = std::max(top, box.start[1]);
        const std::int64_t row_end =
            std::min(top + grid_.chunk_rows(), box.start[1] + box.count[1]);
        const std::int64_t begin = std::max(left, box.start[2]);
        const std::int64_t end =
            std::min(left + grid_.chunk_columns(), box.start[2] + box.count[2]);
        for (std::int64_t row = row_begin; row < row_end; ++row) {
            std::copy_n(from + ((row - top) * grid_.chunk_columns() + begin - left) * size_,
                        (end - begin) * size_,
                        layer +
                            ((row - box.start[1]) * box.count[2] + begin - box.start[2]) * size_);
        }
    }

    std::int64_t size_;
    Volumes volumes_;
    const ChunkGrid& grid_;
    const PackedParts& parts_;
    Unpacker unpacker_;
    std::vector<std::byte> packed_;
};

/// Chunks of a level, of the file that holds its elements from byte `begin` on.
class LevelChunks final : public ChunkSource {
  public:
    LevelChunks(const OutputDataset& level, const File& elements, std::int64_t begin = 0)
        : array_(level.array), cuts_(cuts_chunks(level.array, level.layout)), elements_(elements),
          begin_(begin), grid_(level.array, level.layout),
          packer_(level.layout, grid_.chunk_bytes(), level.array) {}

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
        return chunk_bytes + Packer::memory(layout, chunk_bytes);
    }

  private:
    void read(const ChunkGrid::Part& part, std::byte* to) {
        const std::int64_t size = size_of(array_.type);
        const std::int64_t row = row_bytes(array_);
        const std::int64_t at = begin_ + part.first_row * row + part.first_column * size;
        if (grid_.chunk_columns() == grid_.columns()) {
            elements_.read(at, part.rows * row, to);
            return;
        }
        for (std::int64_t i = 0; i < part.rows; ++i) {
            elements_.read(at + i * row, part.columns * size,
                           to + i * grid_.chunk_columns() * size);
        }
    }

    ArrayInfo array_;
    bool cuts_; ///< as PackedWriter's
    const File& elements_;
    std::int64_t begin_;
    ChunkGrid grid_;
    Packer packer_;
    std::vector<std::byte> whole_;
};

int at_once(const AssemblyShare& share, std::int64_t bytes) {
    return static_cast<int>(std::clamp<std::int64_t>(
        1 + share.memory / std::max<std::int64_t>(bytes, 1), 1, share.threads));
}

std::int64_t reducing_bytes(const LevelSweep& sweep, const ChunkGrid& grid) {
    constexpr std::int64_t unpacking = 3; // packed, unpacked, and between two filters
    return sweep.memory() + unpacking * grid.part_bytes();
}

/// Where the elements of a level go.
struct LevelPlace {
    const File& file;
    std::int64_t begin = 0;
};

/// Makes a rank's share of the elements of all levels. `reader` is called with the number of a
/// thread and gives what reads boxes of the image there.
template <class Reader>
void sweep_levels(const LevelSweep& sweep, const std::vector<LevelPlace>& places, IoThreads& pool,
                  const AssemblyShare& share, const Reader& reader) {
    std::vector<Volumes> volumes;
    for (const CoarserLevel& level : sweep.levels()) {
        volumes.emplace_back(level.dataset.array.shape);
    }
    const std::int64_t size = size_of(sweep.levels().front().dataset.array.type);
    const auto store = [&](std::size_t level, const VolumeBox& box, const std::byte* elements) {
        each_run(volumes[level], box,
                 [&](std::int64_t at, std::int64_t in_box, std::int64_t count) {
                     places[level].file.write(places[level].begin + at * size, count * size,
                                              elements + in_box * size);
                 });
    };
    std::vector<LevelMaker> makers(static_cast<std::size_t>(pool.threads()), LevelMaker(sweep));
    const std::int64_t begin = sweep.regions() * share.rank / share.ranks;
    const std::int64_t end = sweep.regions() * (share.rank + 1) / share.ranks;
    pool.run(end - begin, [&](std::int64_t item, int thread) {
        makers[static_cast<std::size_t>(thread)].make(sweep.region(begin + item), reader(thread),
                                                      store);
    });
}

/// The same of the packed chunks of the image.
void sweep_packed(const OutputDataset& output, const ChunkGrid& grid, const LevelSweep& sweep,
                  const std::vector<LevelPlace>& places, const AssemblyShare& share) {
    const PackedParts parts(output);
    IoThreads pool(at_once(share, reducing_bytes(sweep, grid)));
    std::vector<std::unique_ptr<PackedBoxes>> boxes;
    boxes.reserve(static_cast<std::size_t>(pool.threads()));
    for (int thread = 0; thread < pool.threads(); ++thread) {
        boxes.push_back(std::make_unique<PackedBoxes>(output, grid, parts));
    }
    sweep_levels(sweep, places, pool, share, [&](int thread) {
        return [&own = *boxes[static_cast<std::size_t>(thread)]](
                   const VolumeBox& box, std::byte* to) { own.read(box, to); };
    });
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
    std::vector<LevelPlace> places;
    std::int64_t begin = image.begin + image.bytes;
    for (const CoarserLevel& level : sweep.levels()) {
        places.push_back({file, begin});
        begin += byte_count(level.dataset.array);
    }
    const std::int64_t size = size_of(output.array.type);
    IoThreads pool(at_once(share, sweep.memory()));
    sweep_levels(sweep, places, pool, share, [&](int /*thread*/) {
        return [&](const VolumeBox& box, std::byte* to) {
            each_run(sweep.volumes(), box,
                     [&](std::int64_t at, std::int64_t in_box, std::int64_t count) {
                         file.read(image.begin + at * size, count * size, to + in_box * size);
                     });
        };
    });
    if (share.sync == RowWriter::Sync::yes) { // by the node that wrote it
        file.sync();
    }
    file.close();
}

/// Packs the chunks of a level, whose elements lie in `file` from `elements` on, and puts them
/// behind one another from `end` on, which it moves.
void append_chunks(const OutputDataset& level, std::int64_t elements, File& file, std::int64_t& end,
                   const AssemblyShare& share, std::vector<std::int64_t>& sizes) {
    const ChunkGrid grid(level.array, level.layout);
    const int threads = at_once(share, LevelChunks::memory(level.layout, grid.chunk_bytes()));
    std::vector<std::unique_ptr<LevelChunks>> sources;
    sources.reserve(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) {
        sources.push_back(std::make_unique<LevelChunks>(level, file, elements));
    }
    IoThreads pool(threads);
    std::vector<std::span<const std::byte>> packed(sources.size());
    for (std::int64_t begin = 0; begin < grid.count(); begin += threads) {
        const std::int64_t count = std::min<std::int64_t>(threads, grid.count() - begin);
        pool.run(count, [&](std::int64_t item, int /*thread*/) {
            const auto own = static_cast<std::size_t>(item);
            packed[own] = sources[own]->packed(begin + item);
        });
        for (std::int64_t item = 0; item < count; ++item) {
            const std::span<const std::byte> chunk = packed[static_cast<std::size_t>(item)];
            file.write(end, std::ssize(chunk), chunk.data());
            sizes.push_back(std::ssize(chunk));
            end += std::ssize(chunk);
        }
    }
}

} // namespace

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

void reduce_levels(const OutputDataset& output, const AssemblyShare& share) {
    if (coarser_levels(output).empty()) {
        return;
    }
    if (folder_of(output.layout) == nullptr) {
        if (!is_packed(output.layout)) {
            sweep_dense(output, share);
        }
        return;
    }
    const ChunkGrid grid(output.array, output.layout);
    const LevelSweep sweep = sweep_of(output, grid);
    std::vector<File> files;
    for (const CoarserLevel& level : sweep.levels()) {
        files.emplace_back(elements_path(level.dataset), File::Mode::update);
    }
    std::vector<LevelPlace> places;
    places.reserve(files.size());
    for (const File& file : files) {
        places.push_back({file});
    }
    sweep_packed(output, grid, sweep, places, share);
    for (File& file : files) {
        file.close();
    }
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
        places.push_back({file, elements});
        elements += byte_count(level.dataset.array);
    }
    sweep_packed(output, grid, sweep, places, {.threads = share.threads, .memory = share.memory});
    for (std::size_t i = 0; i < places.size(); ++i) {
        append_chunks(sweep.levels()[i].dataset, places[i].begin, file, end, share, sizes);
    }
    file.resize(end);
    return sizes;
}

void store_levels(const OutputDataset& output, const AssemblyShare& share) {
    if (folder_of(output.layout) == nullptr) {
        return;
    }
    for (const CoarserLevel& level : coarser_levels(output)) {
        const OutputDataset& dataset = level.dataset;
        const File elements(elements_path(dataset), File::Mode::read);
        const ChunkGrid grid(dataset.array, dataset.layout);
        const int threads = at_once(share, LevelChunks::memory(dataset.layout, grid.chunk_bytes()));
        std::vector<std::unique_ptr<ChunkSource>> sources;
        sources.reserve(static_cast<std::size_t>(threads));
        for (int thread = 0; thread < threads; ++thread) {
            sources.push_back(std::make_unique<LevelChunks>(dataset, elements));
        }
        store_folder_files(dataset, share, sources);
    }
}

void make_levels(const OutputDataset& output, const AssemblyShare& share) {
    prepare_levels(output, share);
    reduce_levels(output, share);
    store_levels(output, share);
}

std::int64_t levels_memory(const ArrayInfo& array, const OutputLayout& layout) {
    const OutputDataset output{{}, {}, array, layout};
    if (coarser_levels(output).empty()) {
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
