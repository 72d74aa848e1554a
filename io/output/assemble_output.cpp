// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/assemble_output.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/files/write_back.hpp"
#include "io/filters/packer.hpp"
#include "io/filters/unpacker.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/output/folder_files.hpp"
#include "io/output/level_files.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// A file that chunks go to: the output, or a part of it.
struct Target {
    OutputDataset dataset;
    ChunkGrid grid;
    std::vector<RowPiece> pieces; ///< of a part: where its rows are in the output
};

/// The chunk of the output that is chunk `index` of a part.
std::int64_t chunk_of_output(const OutputDataset& output, const ChunkGrid& grid,
                             const Target& target, std::int64_t index) {
    if (target.pieces.empty()) {
        return index;
    }
    const std::vector<std::int64_t>& shape = output.array.shape;
    const std::size_t axis = output.parts.axis;
    const std::int64_t rows_a_step =
        checked_product(std::span(shape).first(row_axes(shape)).subspan(axis + 1));
    const std::vector<std::int64_t> start = target.grid.start_of(index);
    const std::int64_t row = start.front() * rows_a_step;
    const auto after = std::upper_bound(
        target.pieces.begin(), target.pieces.end(), row,
        [](std::int64_t value, const RowPiece& piece) { return value < piece.source_first; });
    const RowPiece& piece = *std::prev(after);
    std::int64_t step = (piece.first + row - piece.source_first) / rows_a_step;
    std::vector<std::int64_t> at(axis + 1);
    for (std::size_t i = axis + 1; i-- > 0;) {
        at[i] = step % shape[i];
        step /= shape[i];
    }
    at.insert(at.end(), start.begin() + 1, start.end());
    return grid.chunk_at(at);
}

/// Makes chunks as HDF5 stores them in a target, of what the shards have.
class ChunkMaker final : public ChunkSource {
  public:
    ChunkMaker(const OutputDataset& output, const ChunkGrid& grid, const PackedPieces& pieces,
               const Target& target)
        : output_(output), grid_(grid), pieces_(pieces), target_(target) {
        if (repacks(grid, target)) {
            unpacker_.emplace(layout_filters(shard_layout(output), output.array),
                              grid.part_bytes());
            packer_.emplace(target.dataset.layout, target.grid.chunk_bytes(), output.array);
        }
    }

    /// Whether chunks of the target are not what the shards have: of several layers, or cut to a
    /// part that is shorter than a chunk.
    static bool repacks(const ChunkGrid& grid, const Target& target) {
        return grid.layers() > 1 || target.grid.chunk_bytes() != grid.chunk_bytes();
    }

    /// How many of `threads` may make chunks at once. The plan has memory for one that repacks.
    static int at_once(const OutputDataset& output, const ChunkGrid& grid, const Target& target,
                       const AssemblyShare& share) {
        if (!repacks(grid, target)) {
            return share.threads;
        }
        const std::int64_t bytes =
            2 * grid.chunk_bytes() + Packer::memory(output.layout, grid.chunk_bytes());
        return static_cast<int>(
            std::clamp<std::int64_t>(1 + share.memory / bytes, 1, share.threads));
    }

    /// How many to read before the threads wait for one another: of small ones several each.
    static std::int64_t together(const ChunkGrid& grid, const Target& target, int threads) {
        constexpr std::int64_t most_bytes = 32 * MiB;
        constexpr std::int64_t most_each = 8;
        return repacks(grid, target)
                   ? threads
                   : threads * std::clamp<std::int64_t>(most_bytes / grid.part_bytes() / threads, 1,
                                                        most_each);
    }

    /// Chunk `index` of the target. Valid until the next call.
    std::span<const std::byte> packed(std::int64_t index) override {
        const std::int64_t chunk = chunk_of_output(output_, grid_, target_, index);
        if (!packer_) {
            pieces_.take(chunk, bytes_);
            return bytes_;
        }
        if (grid_.layers() > 1 && pieces_.read(grid_.piece_of(chunk), bytes_)) {
            return bytes_;
        }
        whole_.assign(static_cast<std::size_t>(grid_.chunk_bytes()), std::byte{0});
        for (std::int64_t layer = 0; layer < grid_.layers(); ++layer) {
            if (const std::optional<std::int64_t> part = grid_.part_in({chunk, layer})) {
                pieces_.take(*part, bytes_);
                const auto elements =
                    unpacker_->unpack(bytes_, 0, fmt::format("part {} of a shard", *part));
                std::copy(elements.begin(), elements.end(),
                          whole_.begin() + layer * grid_.part_bytes());
            }
        }
        // A chunk is cut along its slowest axis.
        return packer_->pack(
            std::span(whole_).first(static_cast<std::size_t>(target_.grid.chunk_bytes())));
    }

  private:
    const OutputDataset& output_;
    const ChunkGrid& grid_;
    const PackedPieces& pieces_;
    const Target& target_;
    std::optional<Unpacker> unpacker_; ///< of the shards' parts
    std::optional<Packer> packer_;     ///< of the target's chunks
    std::vector<std::byte> bytes_;
    std::vector<std::byte> whole_;
};

/// A file that grows while it is brought to the disk, if whoever stores it is to wait for that.
class EarlySync {
  public:
    EarlySync(const std::string& path, const AssemblyShare& share) {
        if (share.sync == RowWriter::Sync::yes) {
            file_.emplace(path, File::Mode::update);
        }
    }

    void wrote(std::int64_t bytes) noexcept {
        if (file_ && write_back_.is_due(bytes)) {
            file_->start_sync();
        }
    }

  private:
    std::optional<File> file_;
    WriteBack write_back_;
};

void store_chunk(const DatasetHandle& dataset, const Target& target, std::int64_t index,
                 std::span<const std::byte> bytes) {
    const auto start = target.grid.start_of(index);
    const std::vector<hsize_t> offset(start.begin(), start.end());
    if (H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, offset.data(), bytes.size(), bytes.data()) <
        0) {
        throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                   file_and_dataset(target.dataset.file, target.dataset.dataset) +
                       ", from element " + shape_text(start),
                   "Free space on that file system, then run the same command again");
    }
}

/// In the chunks' order, whoever wrote them when: the same job makes the same file. HDF5 takes one
/// chunk at a time; threads read and check the next ones.
void store_chunks(const OutputDataset& output, const ChunkGrid& grid, const PackedPieces& pieces,
                  const Target& target, const AssemblyShare& share) {
    FileHandle file = update_hdf5(target.dataset.file);
    DatasetHandle dataset = open_dataset(file, target.dataset.file, target.dataset.dataset);
    const std::int64_t together = ChunkMaker::at_once(output, grid, target, share);
    std::vector<std::unique_ptr<ChunkMaker>> makers;
    for (std::int64_t i = 0; i < together; ++i) {
        makers.push_back(std::make_unique<ChunkMaker>(output, grid, pieces, target));
    }
    IoThreads pool(static_cast<int>(together));
    std::vector<std::span<const std::byte>> packed(makers.size());
    EarlySync early(target.dataset.file, share);
    for (std::int64_t begin = 0; begin < target.grid.count(); begin += together) {
        const std::int64_t count = std::min(together, target.grid.count() - begin);
        pool.run(count, [&](std::int64_t item, int /*thread*/) {
            const auto own = static_cast<std::size_t>(item);
            packed[own] = makers[own]->packed(begin + item);
        });
        for (std::int64_t item = 0; item < count; ++item) {
            const auto own = static_cast<std::size_t>(item);
            store_chunk(dataset, target, begin + item, packed[own]);
            early.wrote(std::ssize(packed[own]));
        }
    }
    if (!dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot store the dataset", target.dataset.file);
    }
    close_hdf5(std::move(file), target.dataset.file);
}

/// The same of another format than HDF5: chunks as they are in the shards, one behind the other,
/// and those of coarser levels.
void store_written(const OutputDataset& output, const ChunkGrid& grid, const PackedPieces& pieces,
                   const AssemblyShare& share) {
    File file(output.file, File::Mode::update);
    const Target target{output, grid, {}};
    const int threads = ChunkMaker::at_once(output, grid, target, share);
    std::vector<std::unique_ptr<ChunkMaker>> makers;
    const std::int64_t together = ChunkMaker::together(grid, target, threads);
    for (std::int64_t i = 0; i < together; ++i) {
        makers.push_back(std::make_unique<ChunkMaker>(output, grid, pieces, target));
    }
    IoThreads pool(threads);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(grid.count()));
    std::vector<std::span<const std::byte>> packed(makers.size());
    std::vector<std::int64_t> offsets(makers.size());
    std::int64_t at = output.layout.format->place(output).begin;
    EarlySync early(output.file, share);
    for (std::int64_t begin = 0; begin < grid.count(); begin += together) {
        const std::int64_t count = std::min(together, grid.count() - begin);
        pool.run(count, [&](std::int64_t item, int /*thread*/) {
            const auto own = static_cast<std::size_t>(item);
            packed[own] = makers[own]->packed(begin + item);
        });
        for (std::int64_t item = 0; item < count; ++item) {
            const auto own = static_cast<std::size_t>(item);
            sizes[static_cast<std::size_t>(begin + item)] = std::ssize(packed[own]);
            offsets[own] = std::exchange(at, at + std::ssize(packed[own]));
        }
        pool.run(count, [&](std::int64_t item, int /*thread*/) {
            const auto own = static_cast<std::size_t>(item);
            file.write(offsets[own], std::ssize(packed[own]), packed[own].data());
        });
        early.wrote(at - offsets.front());
    }
    const std::vector<std::int64_t> of_levels = append_levels(output, file, at, share);
    sizes.insert(sizes.end(), of_levels.begin(), of_levels.end());
    file.close();
    finish_packed(output, sizes);
}

/// A rank's files of a folder, which have the first of their chunks, or all, already.
void store_files(const OutputDataset& output, const ChunkGrid& grid, const PackedPieces& pieces,
                 const AssemblyShare& share) {
    const Target target{output, grid, {}};
    const int threads = ChunkMaker::at_once(output, grid, target, share);
    std::vector<std::unique_ptr<ChunkSource>> makers;
    makers.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) {
        makers.push_back(std::make_unique<ChunkMaker>(output, grid, pieces, target));
    }
    store_folder_files(output, share, makers,
                       [&](const FileOfChunks& file) { return pieces.in_place(file); });
}

Target target_of(const OutputDataset& output, const std::vector<RowPiece>& pieces,
                 std::int64_t part) {
    OutputDataset dataset = part_dataset(output, pieces, part);
    ChunkGrid grid(dataset.array, dataset.layout);
    std::vector<RowPiece> own;
    std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(own),
                 [&](const RowPiece& piece) { return piece.source == part; });
    return {std::move(dataset), std::move(grid), std::move(own)};
}

} // namespace

void assemble_output(const OutputDataset& output, const AssemblyShare& share) {
    const FolderOfChunks* const folder = folder_of(output.layout);
    if (!is_packed(output.layout) ||
        (!output.parts.several() && folder == nullptr && share.rank > 0)) {
        return;
    }
    const ChunkGrid grid(output.array, output.layout);
    const PackedPieces pieces(output);
    if (folder != nullptr) {
        store_files(output, grid, pieces, share);
        return;
    }
    if (!output.layout.is_hdf5()) {
        store_written(output, grid, pieces, share);
        return;
    }
    if (!output.parts.several()) {
        store_chunks(output, grid, pieces, {output, grid, {}}, share);
        return;
    }
    const std::vector<RowPiece> dealt = deal_rows(output.array, output.parts);
    for (std::int64_t part = 0; part < output.parts.parts; ++part) {
        if (part * share.ranks / output.parts.parts == share.rank) {
            const Target target = target_of(output, dealt, part);
            store_chunks(output, grid, pieces, target, share);
            if (share.sync == RowWriter::Sync::yes) { // by the node that wrote it
                File(target.dataset.file, File::Mode::update).sync();
            }
        }
    }
}

} // namespace runner
