// SPDX-License-Identifier: BSD-3-Clause
#include "io/row_writers.hpp"

#include "io/chunk_grid.hpp"
#include "io/file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"

#include <algorithm>

#include <unistd.h>

namespace runner {
namespace {

/// Where a compressed chunk waits.
struct Waiting {
    std::int64_t bytes = -1; ///< -1: nowhere
    std::int64_t offset = 0;
    int shard = 0;
};

[[noreturn]] void damaged(const std::string& where, const std::string& why) {
    throw Error(ExitCode::output,
                {"cannot put the compressed chunks together", where, why, "Start the job again"});
}

void list_shard(const File& shard, int number, std::vector<Waiting>& chunks) {
    const std::int64_t size = shard.size();
    for (std::int64_t at = 0; at < size;) {
        ShardRecord record;
        shard.read(at, sizeof(record), reinterpret_cast<std::byte*>(&record));
        at += static_cast<std::int64_t>(sizeof(record));
        if (record.chunk < 0 || record.chunk >= std::ssize(chunks) || record.bytes < 0 ||
            record.bytes > size - at) {
            damaged(shard.path(), "its records are damaged at byte " + std::to_string(at));
        }
        Waiting& waiting = chunks[static_cast<std::size_t>(record.chunk)];
        if (waiting.bytes >= 0) {
            damaged(shard.path(), "chunk " + std::to_string(record.chunk) + " was written twice");
        }
        waiting = {record.bytes, at, number};
        at += record.bytes;
    }
}

std::vector<Waiting> list_chunks(const std::vector<File>& shards, const ChunkGrid& grid) {
    std::vector<Waiting> chunks(static_cast<std::size_t>(grid.count()));
    for (std::size_t number = 0; number < shards.size(); ++number) {
        list_shard(shards[number], static_cast<int>(number), chunks);
    }
    const auto missing = std::find_if(chunks.begin(), chunks.end(),
                                      [](const Waiting& waiting) { return waiting.bytes < 0; });
    if (missing != chunks.end()) {
        damaged("chunk " + std::to_string(missing - chunks.begin()), "no rank wrote it");
    }
    return chunks;
}

/// In the chunks' order, whoever wrote them when: the same job makes the same file.
void store_chunks(const OutputDataset& output, const std::vector<File>& shards,
                  const ChunkGrid& grid) {
    const std::vector<Waiting> chunks = list_chunks(shards, grid);
    FileHandle file = update_hdf5(output.file);
    DatasetHandle dataset = open_dataset(file, output.file, output.dataset);
    std::vector<std::byte> bytes;
    for (std::size_t index = 0; index < chunks.size(); ++index) {
        const Waiting& waiting = chunks[index];
        bytes.resize(static_cast<std::size_t>(waiting.bytes));
        shards[static_cast<std::size_t>(waiting.shard)].read(waiting.offset, waiting.bytes,
                                                             bytes.data());
        const auto start = grid.start_of(static_cast<std::int64_t>(index));
        const std::vector<hsize_t> offset(start.begin(), start.end());
        if (H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, offset.data(), bytes.size(),
                           bytes.data()) < 0) {
            throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                       file_and_dataset(output.file, output.dataset) + ", from element " +
                           shape_text(start),
                       "Free space on that file system and start again");
        }
    }
    if (!dataset.close()) {
        throw_hdf5(ExitCode::output, "cannot store the dataset", output.file);
    }
    close_hdf5(std::move(file), output.file);
}

} // namespace

void assemble_output(const OutputDataset& output, int ranks, RowWriter::Sync sync) {
    if (output.layout.chunk.empty() || output.layout.compression == Compression::none) {
        return;
    }
    std::vector<File> shards;
    shards.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        shards.emplace_back(shard_path(output, rank), File::Mode::update);
    }
    store_chunks(output, shards, ChunkGrid(output.array, output.layout));
    if (sync == RowWriter::Sync::yes) {
        File stored(output.file, File::Mode::update);
        stored.sync();
        stored.close();
    }
    for (const File& shard : shards) {
        if (::unlink(shard.path().c_str()) != 0) {
            throw Error(ExitCode::output, {"cannot remove the file", shard.path(),
                                           errno_text(errno), errno_remedy(errno)});
        }
    }
}

} // namespace runner
