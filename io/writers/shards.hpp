// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/placed_chunks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// A shard is a file that holds a rank's compressed pieces (ChunkGrid) until assemble_output():
/// ShardRecords, each followed by the piece's bytes, in the order in which they were done. The
/// bytes of a piece that is in its file of the output's folder already (placed_chunks.hpp) do not
/// follow its record. A run that was killed may leave anything after the last piece that its
/// journal knows of.
struct ShardRecord {
    static constexpr std::int64_t follows = -1;

    std::int64_t piece = 0;        ///< its index in ChunkGrid's order
    std::int64_t bytes = 0;        ///< of the piece
    std::uint64_t hash = 0;        ///< hash_bytes() of them
    std::int64_t offset = follows; ///< in the file of its chunk, or `follows`
    std::uint64_t check = 0;       ///< hash_bytes() of the fields above
};

/// The check that a record's other fields call for.
std::uint64_t check_of(const ShardRecord& record);

/// The record of a packed piece.
ShardRecord record_of(std::int64_t piece, std::span<const std::byte> packed,
                      std::int64_t offset = ShardRecord::follows);

/// Adds a record's bytes.
void append(std::vector<std::byte>& bytes, const ShardRecord& record);

/// `FILE.shard-ATTEMPT-RANK`, and with -NUMBER behind it from the rank's second file on. `attempt`
/// is the journal's.
std::string shard_path(const OutputDataset& output, int rank, std::int64_t attempt,
                       std::int64_t number);

/// A shard that is written, by any number of threads. @throws Error (output).
class ShardFile {
  public:
    explicit ShardFile(const std::string& path) : file_(path, File::Mode::create) {}

    void append(std::span<const std::byte> bytes);
    void append(const ShardRecord& record, std::span<const std::byte> packed);

    File& file() { return file_; }

  private:
    File file_;
    std::atomic<std::int64_t> end_{0};
};

/// The shards that a rank writes. @throws Error (output).
class ShardFiles {
  public:
    ShardFiles(const OutputDataset& output, int rank, int threads, std::int64_t attempt);

    ShardFile& of(int thread) { return files_[static_cast<std::size_t>(thread) % files_.size()]; }

    void start_sync() noexcept;
    void sync();
    void close();

  private:
    std::deque<ShardFile> files_;
};

/// All shards there are, of whichever run, by name; no file whose name only begins like theirs.
std::vector<std::string> shard_paths(const OutputDataset& output);

/// How parts are packed in shards; whole chunks are packed as the output's. Parts of chunks of
/// several layers are unpacked when the chunks are put together, so they wait in lz4, which takes
/// little time.
OutputLayout shard_layout(const OutputDataset& output);

/// Removes the shards, once the output has its name.
void remove_shards(const OutputDataset& output);

/// The compressed pieces (ChunkGrid) of an output in all its shards, of whichever run. A part of
/// several layers may be there alone or in its whole chunk, or both.
class PackedPieces {
  public:
    /// Opens and lists the shards. @throws Error (output).
    explicit PackedPieces(const OutputDataset& output);
    PackedPieces(const PackedPieces&) = delete;
    PackedPieces& operator=(const PackedPieces&) = delete;
    ~PackedPieces() = default;

    /// Whether a shard lists this piece.
    bool has(std::int64_t piece) const {
        return !places_.at(static_cast<std::size_t>(piece)).empty();
    }

    /// Fills `bytes` with the packed piece; false when no shard has it whole.
    bool read(std::int64_t piece, std::vector<std::byte>& bytes) const;

    /// The sizes of the chunks with which a file of a folder begins and that it has already, each
    /// as it was packed; 0 for those beyond the array's end.
    std::vector<std::int64_t> in_place(const FileOfChunks& file) const;

    /// As read(). @throws Error (output) when no shard has it whole.
    void take(std::int64_t piece, std::vector<std::byte>& bytes) const;

  private:
    /// Where a piece waits.
    struct Place {
        std::int64_t bytes = 0;
        std::int64_t offset = 0;
        std::uint64_t hash = 0;
        std::size_t shard = 0;
        bool is_in_file = false; ///< in the file of its chunk, not in the shard
    };

    using Listed = std::pair<std::int64_t, Place>; ///< a piece, and where it waits

    std::vector<Listed> list(std::size_t shard) const;
    bool read(std::int64_t piece, const Place& place, std::vector<std::byte>& bytes) const;
    /// The bytes of a piece at this place of its chunk's file of `size` bytes, which are read and
    /// compared if a run that was killed may have left others. Nothing where they are not there.
    std::optional<std::int64_t> bytes_at(std::int64_t piece, std::int64_t offset,
                                         std::int64_t size) const;
    /// The same of a chunk, with the room of layers beyond the array.
    std::optional<std::int64_t> chunk_at(std::int64_t chunk, std::int64_t offset,
                                         std::int64_t size) const;

    OutputDataset output_;
    ChunkGrid grid_;
    std::vector<File> shards_;
    bool has_several_runs_ = false;
    std::unique_ptr<GrowingFiles> files_; ///< of an output that places_chunks()
    /// The places of each piece: a run that was killed after writing one and before its journal
    /// knew leaves it twice.
    std::vector<std::vector<Place>> places_;
};

} // namespace runner
