// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/output/assemble_output.hpp"
#include "io/rows/written_format.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace runner {

/// Chunks of an output as they are stored. For one thread.
class ChunkSource {
  public:
    virtual ~ChunkSource() = default;

    /// By ChunkGrid's order; valid until the next call. @throws Error (output).
    virtual std::span<const std::byte> packed(std::int64_t index) = 0;
};

/// Packs chunks by several threads, each of which has a source.
class ChunkPackers {
  public:
    /// One source at least; they outlive it.
    explicit ChunkPackers(std::span<const std::unique_ptr<ChunkSource>> sources);

    /// Where `bytes` of a chunk go. Called in the order of the chunks, one call at a time.
    using Place = std::function<std::int64_t(std::int64_t bytes)>;
    /// Stores a chunk there; several calls at a time.
    using Store = std::function<void(std::int64_t at, std::span<const std::byte> packed)>;

    /// A chunk below 0 has no bytes, and is not stored.
    void each(std::span<const std::int64_t> chunks, const Place& place, const Store& store);

  private:
    std::span<const std::unique_ptr<ChunkSource>> sources_;
    IoThreads threads_;
};

/// Stores packed chunks one behind the other from byte `end` of the file on, which it moves, and
/// adds their sizes. @throws Error (output).
void append_packed(ChunkPackers& packers, std::span<const std::int64_t> chunks, const File& file,
                   std::int64_t& end, std::vector<std::int64_t>& sizes);

/// The sizes of the chunks that a file begins with already (PackedPieces::in_place()).
using InPlace = std::function<std::vector<std::int64_t>(const FileOfChunks& file)>;

/// A file of a folder, but no slice, that is written from its beginning on, or completed.
/// @throws Error (output).
class FolderFile {
  public:
    FolderFile(const OutputDataset& output, std::int64_t index);
    /// The file begins with some of its chunks already.
    FolderFile(const OutputDataset& output, std::int64_t index, const InPlace& in_place);

    const std::vector<std::int64_t>& chunks() const { return made_.chunks; }

    /// The chunks that are to be appended.
    std::span<const std::int64_t> missing() const {
        return std::span(made_.chunks).subspan(sizes_.size());
    }

    /// The chunks that follow those before.
    void append(std::span<const std::int64_t> chunks, ChunkPackers& packers);

    /// When all chunks are there.
    void finish(RowWriter::Sync sync);

  private:
    void append(std::span<const std::byte> bytes);

    const OutputDataset& output_;
    FileOfChunks made_;
    File file_;
    std::vector<std::int64_t> sizes_;
    std::int64_t end_ = 0;
};

/// Writes these files of a folder, by as many threads as there are sources, one at least.
/// @throws Error (output).
void store_folder_files(const OutputDataset& output, std::span<const std::int64_t> files,
                        RowWriter::Sync sync,
                        const std::vector<std::unique_ptr<ChunkSource>>& sources,
                        const InPlace& in_place = {});

/// The same of a rank's share of all files.
void store_folder_files(const OutputDataset& output, const AssemblyShare& share,
                        const std::vector<std::unique_ptr<ChunkSource>>& sources,
                        const InPlace& in_place = {});

} // namespace runner
