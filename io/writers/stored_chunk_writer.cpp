// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_writers.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/files/own_file.hpp"
#include "io/filters/packer.hpp"
#include "io/filters/unpacker.hpp"
#include "io/input/file_access.hpp"
#include "io/input/stored_places.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace runner {
namespace {

/// Where the chunks of a finished output are stored, and in which files.
struct StoredChunks {
    std::vector<ChunkPlace> places;
    std::vector<std::string> files;
    /// Files of a folder in which chunks do not follow one another as they were written. Nothing of
    /// one is written in its place.
    std::set<std::uint32_t> damaged = {};

    const ChunkPlace& place_of(std::int64_t chunk) const {
        return places[static_cast<std::size_t>(chunk)];
    }
};

/// Calls `take` for each file of a folder that has chunks, with its number.
template <class Take>
void each_file(const OutputDataset& output, const StoredChunks& stored, const Take& take) {
    const FolderOfChunks& folder = *folder_of(output.layout);
    for (std::int64_t i = 0; i < folder.files(output); ++i) {
        const FileOfChunks file = folder.file(output, i);
        const auto chunk = std::find_if(file.chunks.begin(), file.chunks.end(),
                                        [](std::int64_t each) { return each >= 0; });
        take(file, stored.place_of(*chunk).file);
    }
}

std::set<std::uint32_t> damaged_files(const OutputDataset& output, const StoredChunks& stored) {
    std::set<std::uint32_t> damaged;
    each_file(output, stored, [&](const FileOfChunks& file, std::uint32_t number) {
        std::int64_t end = 0;
        for (const std::int64_t chunk : file.chunks) {
            if (chunk < 0) {
                continue;
            }
            const ChunkPlace& place = stored.place_of(chunk);
            if (place.bytes == 0 || place.offset != std::exchange(end, end + place.bytes)) {
                damaged.insert(number);
            }
        }
    });
    return damaged;
}

StoredChunks chunks_in(FileAccess& files, const OutputDataset& output) {
    const bool is_foreign = output.layout.is_hdf5() ||
                            (folder_of(output.layout) != nullptr && !is_in_slices(output.layout));
    DatasetLayout layout = is_foreign ? stored_places(files, output) : packed_layout(output);
    if (!output.layout.is_hdf5() && is_foreign) {
        StoredChunks stored{std::move(layout.chunks), std::move(layout.chunk_files)};
        stored.damaged = damaged_files(output, stored);
        return stored;
    }
    if (layout.chunk_files.empty()) {
        layout.chunk_files = {output.file};
    }
    return {std::move(layout.chunks), std::move(layout.chunk_files)};
}

/// Compressed chunks of a finished output. One that takes as many bytes as before goes where it
/// was, so that nothing but its own bytes changes. A file of a folder of which a chunk has no such
/// place is written again as a whole.
class StoredChunkWriter final : public RowWriter {
  public:
    StoredChunkWriter(FileAccess& files, const OutputDataset& output, int threads)
        : files_(files), output_(output), grid_(output.array, output.layout),
          stored_(chunks_in(files, output)), cuts_(cuts_chunks(output.array, output.layout)),
          threads_(threads) {
        for (int thread = 0; thread < threads; ++thread) {
            packers_.emplace_back(output.layout, grid_.chunk_bytes(), output.array);
            unpackers_.emplace_back(layout_filters(output.layout, output.array),
                                    grid_.chunk_bytes());
            whole_chunks_.emplace_back(static_cast<std::size_t>(grid_.chunk_bytes()));
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const auto [begin, end] = grid_.parts_of(first, rows);
        std::map<std::int64_t, std::vector<std::int64_t>> parts; // by chunk
        for (std::int64_t part = begin; part < end; ++part) {
            parts[grid_.place_of(part).chunk].push_back(part);
        }
        const std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> chunks(parts.begin(),
                                                                                     parts.end());
        std::vector<std::vector<std::byte>> packed;
        packed.reserve(chunks.size());
        for (const auto& [chunk, own] : chunks) {
            packed.push_back(std::ssize(own) < grid_.layers() ? stored(chunk)
                                                              : std::vector<std::byte>());
        }
        threads_.run(std::ssize(chunks), [&](std::int64_t item, int thread) {
            const auto own = static_cast<std::size_t>(thread);
            std::vector<std::byte>& bytes = packed[static_cast<std::size_t>(item)];
            std::vector<std::byte>& whole = whole_chunks_[own];
            unpack(bytes, own, whole);
            std::int64_t used = grid_.chunk_bytes();
            for (const std::int64_t index : chunks[static_cast<std::size_t>(item)].second) {
                ChunkGrid::Part part = grid_.part_at(index);
                part.first_row -= first;
                std::byte* const to =
                    whole.data() + grid_.place_of(index).layer * grid_.part_bytes();
                std::fill_n(to, grid_.part_bytes(), std::byte{0});
                gather_part(output_.array, part, grid_.chunk_columns(), from, to);
                if (cuts_) { // of one layer
                    used = part.rows * row_bytes(output_.array);
                }
            }
            const auto made =
                packers_[own].pack(std::span(whole).first(static_cast<std::size_t>(used)));
            bytes.assign(made.begin(), made.end());
        });
        std::vector<PackedChunk> moved;
        for (std::size_t item = 0; item < packed.size(); ++item) {
            store(chunks[item].first, std::move(packed[item]), moved);
        }
        if (!moved.empty()) {
            files_.store_chunks(output_.file, output_.dataset, moved);
            stored_.places = stored_places(files_, output_).chunks;
        }
    }

    void sync() override {
        for (const auto& [number, file] : opened_) {
            file.sync();
        }
    }

    void finish(Sync sync) override {
        if (folder_of(output_.layout) != nullptr && !is_in_slices(output_.layout)) {
            replace_files(sync);
        }
        if (!held_.empty()) {
            throw Error(ExitCode::output,
                        {"cannot write into the output", output_.file,
                         "a chunk is packed to another size than before, for which it has no room",
                         "Remove the file and run the job again"});
        }
        close_files(sync);
    }

  private:
    void close_files(Sync sync) {
        for (auto& [number, file] : opened_) {
            if (sync == Sync::yes) {
                file.sync();
            }
            file.close();
        }
        opened_.clear();
    }

    const ChunkPlace& place_of(std::int64_t chunk) const { return stored_.place_of(chunk); }

    const File& file_of(std::int64_t chunk) {
        constexpr std::size_t most_open = 64;
        const std::uint32_t number = place_of(chunk).file;
        if (opened_.size() == most_open && !opened_.contains(number)) {
            close_files(Sync::yes);
        }
        return opened_.try_emplace(number, stored_.files.at(number), File::Mode::update)
            .first->second;
    }

    /// A chunk's bytes in its file, or those that have no room there.
    std::vector<std::byte> stored(std::int64_t chunk) {
        if (const auto held = held_.find(chunk); held != held_.end()) {
            return held->second;
        }
        std::vector<std::byte> packed(static_cast<std::size_t>(place_of(chunk).bytes));
        if (packed.empty()) {
            return packed;
        }
        file_of(chunk).read(place_of(chunk).offset, std::ssize(packed), packed.data());
        return packed;
    }

    /// The chunk's elements; zeros where it is damaged: then all its parts are wrong and come.
    void unpack(const std::vector<std::byte>& packed, std::size_t thread,
                std::vector<std::byte>& whole) {
        std::fill(whole.begin(), whole.end(), std::byte{0});
        if (packed.empty()) {
            return;
        }
        try {
            const auto elements = unpackers_[thread].unpack(packed, 0, "");
            std::copy(elements.begin(), elements.end(), whole.begin());
        } catch (const Error&) {
        }
    }

    /// In place, or behind `moved`. HDF5 alone can move one; of others it is held until its other
    /// layers come.
    void store(std::int64_t index, std::vector<std::byte> packed, std::vector<PackedChunk>& moved) {
        if (std::ssize(packed) == place_of(index).bytes &&
            !stored_.damaged.contains(place_of(index).file)) {
            file_of(index).write(place_of(index).offset, std::ssize(packed), packed.data());
            held_.erase(index);
        } else if (output_.layout.is_hdf5()) {
            moved.push_back({grid_.start_of(index), std::move(packed)});
        } else {
            held_[index] = std::move(packed);
        }
    }

    /// Writes the files again that held chunks belong to.
    void replace_files(Sync sync) {
        const FolderOfChunks& folder = *folder_of(output_.layout);
        each_file(output_, stored_, [&](const FileOfChunks& file, std::uint32_t number) {
            const auto is_held = [&](std::int64_t chunk) { return held_.contains(chunk); };
            if (std::none_of(file.chunks.begin(), file.chunks.end(), is_held)) {
                return;
            }
            std::vector<std::byte> bytes;
            std::vector<std::int64_t> sizes;
            for (const std::int64_t chunk : file.chunks) {
                const std::vector<std::byte> packed =
                    chunk < 0 ? std::vector<std::byte>() : stored(chunk);
                if (chunk >= 0 && packed.empty()) {
                    return; // nobody has it: finish() refuses what is held
                }
                sizes.push_back(std::ssize(packed));
                bytes.insert(bytes.end(), packed.begin(), packed.end());
            }
            const std::vector<std::byte> tail = folder.tail(output_, file, sizes);
            bytes.insert(bytes.end(), tail.begin(), tail.end());
            opened_.erase(number);
            const std::filesystem::path path = std::filesystem::path(output_.file) / file.name;
            std::error_code failure;
            std::filesystem::create_directories(path.parent_path(), failure); // or it fails below
            replace_file(path.string(), bytes, sync == Sync::yes ? Durable::yes : Durable::no);
            for (const std::int64_t chunk : file.chunks) {
                held_.erase(chunk);
            }
        });
    }

    FileAccess& files_;
    OutputDataset output_;
    ChunkGrid grid_;
    StoredChunks stored_;
    bool cuts_;
    std::map<std::uint32_t, File> opened_;                ///< by their numbers in stored_.files
    std::map<std::int64_t, std::vector<std::byte>> held_; ///< chunks of another size than before
    std::vector<Packer> packers_;                         ///< one a thread
    std::vector<Unpacker> unpackers_;                     ///< one a thread
    std::vector<std::vector<std::byte>> whole_chunks_;    ///< one a thread
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_stored_chunk_writer(FileAccess& files, const OutputDataset& output,
                                                    int threads) {
    return std::make_unique<StoredChunkWriter>(files, output, threads);
}

} // namespace runner
