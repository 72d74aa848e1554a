// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/folder_files.hpp"

#include "io/files/folder_tree.hpp"
#include "io/writers/placed_chunks.hpp"
#include "io/writers/turns.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

namespace runner {
namespace {

/// One slice: its chunks in their order, and what is about them in a file of its format.
void store_slice(const OutputDataset& slice, const FileOfChunks& made, ChunkPackers& chunks,
                 RowWriter::Sync sync) {
    std::int64_t at = slice.layout.format->place(slice).begin;
    std::vector<std::int64_t> sizes;
    File file(slice.file, File::Mode::create);
    append_packed(chunks, made.chunks, file, at, sizes);
    if (is_packed(slice.layout)) {
        finish_packed(slice, sizes);
    } else {
        place_written(slice);
    }
    if (sync == RowWriter::Sync::yes) {
        file.sync();
    }
    file.close();
}

/// The file, in a folder of its own where it has one.
File made_file(const OutputDataset& output, const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(output.file) / name;
    std::error_code failure;
    std::filesystem::create_directories(path.parent_path(), failure); // or File says why not
    return {path.string(), File::Mode::create};
}

void store_file(const OutputDataset& output, const FolderOfChunks& folder, std::int64_t index,
                ChunkPackers& packers, RowWriter::Sync sync, const InPlace& in_place) {
    if (folder.slice != nullptr) {
        store_slice(folder.slice(output, index), folder.file(output, index), packers, sync);
        return;
    }
    FolderFile file = in_place ? FolderFile(output, index, in_place) : FolderFile(output, index);
    file.append(file.missing(), packers);
    file.finish(sync);
}

} // namespace

ChunkPackers::ChunkPackers(std::span<const std::unique_ptr<ChunkSource>> sources)
    : sources_(sources), threads_(static_cast<int>(sources.size())) {}

void ChunkPackers::each(std::span<const std::int64_t> chunks, const Place& place,
                        const Store& store) {
    Turns turns;
    threads_.run(std::ssize(chunks), [&](std::int64_t item, int thread) {
        const std::int64_t chunk = chunks[static_cast<std::size_t>(item)];
        std::span<const std::byte> packed;
        std::int64_t at = 0;
        turns.take(
            item,
            [&] {
                packed =
                    chunk < 0 ? packed : sources_[static_cast<std::size_t>(thread)]->packed(chunk);
            },
            [&] { at = place(std::ssize(packed)); });
        if (!packed.empty()) {
            store(at, packed);
        }
    });
}

void append_packed(ChunkPackers& packers, std::span<const std::int64_t> chunks, const File& file,
                   std::int64_t& end, std::vector<std::int64_t>& sizes) {
    packers.each(
        chunks,
        [&](std::int64_t bytes) {
            sizes.push_back(bytes);
            return std::exchange(end, end + bytes);
        },
        [&](std::int64_t at, std::span<const std::byte> packed) {
            file.write(at, std::ssize(packed), packed.data());
        });
}

FolderFile::FolderFile(const OutputDataset& output, std::int64_t index)
    : output_(output), made_(folder_of(output.layout)->file(output, index)),
      file_(made_file(output, made_.name)) {}

FolderFile::FolderFile(const OutputDataset& output, std::int64_t index, const InPlace& in_place)
    : output_(output), made_(folder_of(output.layout)->file(output, index)),
      file_(open_growing(output, made_.name)), sizes_(in_place(made_)),
      end_(std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0})) {}

void FolderFile::append(std::span<const std::byte> bytes) {
    file_.write(end_, std::ssize(bytes), bytes.data());
    end_ += std::ssize(bytes);
}

void FolderFile::append(std::span<const std::int64_t> chunks, ChunkPackers& packers) {
    append_packed(packers, chunks, file_, end_, sizes_);
}

void FolderFile::finish(RowWriter::Sync sync) {
    append(folder_of(output_.layout)->tail(output_, made_, sizes_));
    file_.resize(end_);                 // what a killed run left behind it
    if (sync == RowWriter::Sync::yes) { // by the node that wrote it
        file_.sync();
    }
    file_.close();
    complete_growing(output_, made_.name);
}

void store_folder_files(const OutputDataset& output, std::span<const std::int64_t> files,
                        RowWriter::Sync sync,
                        const std::vector<std::unique_ptr<ChunkSource>>& sources,
                        const InPlace& in_place) {
    const FolderOfChunks& folder = *folder_of(output.layout);
    const std::int64_t count = std::ssize(files);
    const bool synced = sync == RowWriter::Sync::yes; // by the node that writes them
    const bool at_once = synced && folder.files(output) > synced_singly;
    // Several threads pack the chunks of each file where files are few.
    const std::size_t together =
        sources.size() /
        static_cast<std::size_t>(std::clamp<std::int64_t>(count, 1, std::ssize(sources)));
    std::deque<ChunkPackers> chunks;
    for (std::size_t first = 0; first + together <= sources.size(); first += together) {
        chunks.emplace_back(std::span(sources).subspan(first, together));
    }
    IoThreads pool(static_cast<int>(chunks.size()));
    pool.run(count, [&](std::int64_t item, int thread) {
        store_file(output, folder, files[static_cast<std::size_t>(item)],
                   chunks[static_cast<std::size_t>(thread)], at_once ? RowWriter::Sync::no : sync,
                   in_place);
    });
    if (at_once) {
        sync_file_system(output.file);
    }
}

void store_folder_files(const OutputDataset& output, const AssemblyShare& share,
                        const std::vector<std::unique_ptr<ChunkSource>>& sources,
                        const InPlace& in_place) {
    const std::int64_t all = folder_of(output.layout)->files(output);
    const std::int64_t begin = all * share.rank / share.ranks;
    std::vector<std::int64_t> files(
        static_cast<std::size_t>(all * (share.rank + 1) / share.ranks - begin));
    std::iota(files.begin(), files.end(), begin);
    store_folder_files(output, files, share.sync, sources, in_place);
}

} // namespace runner
