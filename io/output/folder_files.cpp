// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/folder_files.hpp"

#include "io/files/file.hpp"
#include "io/files/folder_tree.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/written_format.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <system_error>

namespace runner {
namespace {

/// The chunks of one file at a time, packed by several threads, each of which has a source.
class FileChunks {
  public:
    explicit FileChunks(std::span<const std::unique_ptr<ChunkSource>> sources)
        : sources_(sources), packed_(sources.size()), threads_(static_cast<int>(sources.size())) {}

    /// Passes each on in the order given; nothing of a chunk below 0.
    template <class Take> void each(std::span<const std::int64_t> chunks, const Take& take) {
        for (std::size_t begin = 0; begin < chunks.size(); begin += sources_.size()) {
            const std::size_t count = std::min(sources_.size(), chunks.size() - begin);
            threads_.run(static_cast<std::int64_t>(count), [&](std::int64_t item, int /*thread*/) {
                const auto own = static_cast<std::size_t>(item);
                const std::int64_t chunk = chunks[begin + own];
                packed_[own] =
                    chunk < 0 ? std::span<const std::byte>() : sources_[own]->packed(chunk);
            });
            std::for_each_n(packed_.begin(), count, take);
        }
    }

  private:
    std::span<const std::unique_ptr<ChunkSource>> sources_;
    std::vector<std::span<const std::byte>> packed_;
    IoThreads threads_;
};

/// One slice: its chunks in their order, and what is about them in a file of its format.
void store_slice(const OutputDataset& slice, const FileOfChunks& made, FileChunks& chunks,
                 RowWriter::Sync sync) {
    std::int64_t at = slice.layout.format->place(slice).begin;
    std::vector<std::int64_t> sizes;
    File file(slice.file, File::Mode::create);
    chunks.each(made.chunks, [&](std::span<const std::byte> packed) {
        file.write(at, std::ssize(packed), packed.data());
        at += std::ssize(packed);
        sizes.push_back(std::ssize(packed));
    });
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

/// One file of a folder: its chunks in their order, and what follows them.
void store_file(const OutputDataset& output, const FolderOfChunks& folder, std::int64_t index,
                FileChunks& chunks, RowWriter::Sync sync) {
    const FileOfChunks made = folder.file(output, index);
    if (folder.slice != nullptr) {
        store_slice(folder.slice(output, index), made, chunks, sync);
        return;
    }
    const std::filesystem::path path = std::filesystem::path(output.file) / made.name;
    std::error_code failure;
    std::filesystem::create_directories(path.parent_path(), failure); // or File says why not
    File file(path.string(), File::Mode::create);
    std::vector<std::int64_t> sizes;
    std::int64_t at = 0;
    const auto append = [&](std::span<const std::byte> bytes) {
        file.write(at, std::ssize(bytes), bytes.data());
        at += std::ssize(bytes);
    };
    chunks.each(made.chunks, [&](std::span<const std::byte> packed) {
        sizes.push_back(std::ssize(packed));
        append(packed);
    });
    append(folder.tail(output, made, sizes));
    if (sync == RowWriter::Sync::yes) { // by the node that wrote it
        file.sync();
    }
    file.close();
}

} // namespace

void store_folder_files(const OutputDataset& output, const AssemblyShare& share,
                        const std::vector<std::unique_ptr<ChunkSource>>& sources) {
    const FolderOfChunks& folder = *folder_of(output.layout);
    const std::int64_t files = folder.files(output);
    const std::int64_t begin = files * share.rank / share.ranks;
    const std::int64_t end = files * (share.rank + 1) / share.ranks;
    const bool synced = share.sync == RowWriter::Sync::yes; // by the node that writes them
    const bool at_once = synced && files > synced_singly;
    // Several threads pack the chunks of each file where files are few.
    const std::size_t together =
        sources.size() /
        static_cast<std::size_t>(std::clamp<std::int64_t>(end - begin, 1, std::ssize(sources)));
    std::deque<FileChunks> chunks;
    for (std::size_t first = 0; first + together <= sources.size(); first += together) {
        chunks.emplace_back(std::span(sources).subspan(first, together));
    }
    IoThreads pool(static_cast<int>(chunks.size()));
    pool.run(end - begin, [&](std::int64_t item, int thread) {
        store_file(output, folder, begin + item, chunks[static_cast<std::size_t>(thread)],
                   at_once ? RowWriter::Sync::no : share.sync);
    });
    if (at_once) {
        sync_file_system(output.file);
    }
}

} // namespace runner
