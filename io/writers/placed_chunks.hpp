// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/rows.hpp"
#include "io/rows/written_format.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// Whether chunks of an output go straight into their files in its folder: where these begin with
/// their chunks (FolderOfChunks::place).
bool places_chunks(const OutputLayout& layout);

/// The name of a file of chunks until assemble_output() completes it: NAME.partial.
std::string growing_name(const OutputDataset& output, const std::string& name);

/// Opens the file that grows, or the complete one where that is, or makes it. Each chunk has one
/// place and one content, so a run may write those again that are there. @throws Error (output).
File open_growing(const OutputDataset& output, const std::string& name);

/// Gives the file that grew, if there is one, its name. @throws Error (output).
void complete_growing(const OutputDataset& output, const std::string& name);

/// The files of an output's folder that are open, the last ones used. For any number of threads.
class GrowingFiles {
  public:
    /// `output` outlives it.
    explicit GrowingFiles(const OutputDataset& output) : output_(output) {}

    using Handle = std::shared_ptr<const File>;

    /// The file that grows, or when it is complete that one; null where neither is there.
    /// @throws Error (output).
    Handle open(std::int64_t index);

    /// A new file that grows. @throws Error (output).
    Handle create(std::int64_t index, const std::string& name);

    void start_sync();

    /// What storage said too late, when a file that was open for long enough was closed.
    /// @throws Error (output).
    void report_closed();

    /// Closes all, and reports what storage said of any. @throws Error (output).
    void close();

  private:
    Handle keep(std::int64_t index, File file);
    void close_unused(File* file) noexcept;
    const std::string& name_of(std::int64_t index);

    const OutputDataset& output_;
    std::mutex mutex_;
    std::map<std::int64_t, std::string> names_; ///< which the folder makes with lists of all chunks
    std::mutex failure_mutex_;
    std::exception_ptr failure_;                       ///< the first that closing had
    std::deque<std::pair<std::int64_t, Handle>> open_; ///< the last one used first
};

/// Where packed pieces (ChunkGrid) go in the files of an output that places_chunks(). A file is
/// grown by the writer that has its first piece. Parts without compression have fixed places. Whole
/// chunks with it follow one another in the file's order, as long as they come in it; a file grows
/// no further after a chunk that does not. So what a file has is always its beginning. Parts of
/// several layers with compression do not go into files.
class PlacedChunks {
  public:
    /// `output` and `grid` outlive it.
    PlacedChunks(const OutputDataset& output, const ChunkGrid& grid);

    struct Place {
        std::int64_t file = 0; ///< its index
        std::int64_t offset = 0;
    };

    /// The place of a piece that takes this many bytes; nothing where it does not go into its file.
    /// By one thread at a time, in the order of the pieces. @throws Error (output).
    std::optional<Place> take(std::int64_t piece, std::int64_t bytes);

    /// Writes pieces that follow one another from there on; false where somebody has removed the
    /// file. By any thread. @throws Error (output).
    bool write(const Place& place, std::span<const std::byte> bytes);

    /// Begins to bring what was written to the disk.
    void start_sync() { files_.start_sync(); }

    /// Waits until all that was written before is on the disk. @throws Error (output).
    void sync();

    /// @throws Error (output).
    void close() { files_.close(); }

  private:
    /// A file that this writer grows.
    struct Growing {
        FileOfChunks made;
        std::int64_t pieces = 0;          ///< that are not written yet
        std::int64_t end = 0;             ///< of the packed chunks
        std::int64_t next = 0;            ///< the chunk that goes there
        std::vector<std::int64_t> before; ///< of each chunk, how many the file has before it
    };

    /// Begins a file with its first piece; nothing where an earlier run has begun it.
    std::optional<Growing> begin(std::int64_t index);

    const OutputDataset& output_;
    const ChunkGrid& grid_;
    const FolderOfChunks& folder_;
    bool is_packed_;
    GrowingFiles files_;
    std::map<std::int64_t, Growing> growing_;
    std::mutex mutex_;
    std::set<std::int64_t> unsynced_;
};

} // namespace runner
