// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace runner {

using Chunk = std::vector<std::int64_t>; ///< its first element's coordinates

/// Unpacked chunks that have rows beyond those read last, for several threads. The memory of one
/// that is dropped serves the next: the kernel clears new pages, which takes as long as to read the
/// chunk from the page cache.
class KeptChunks {
  public:
    /// `most_bytes`: of all chunks together; one is kept in any case.
    KeptChunks(std::int64_t chunk_bytes, std::int64_t most_bytes)
        : chunk_bytes_(static_cast<std::size_t>(chunk_bytes)),
          most_(std::max<std::int64_t>(most_bytes / chunk_bytes, 1)) {}

    /// The elements of a chunk that is kept, until drop_before() drops it.
    std::optional<std::span<const std::byte>> find(const Chunk& chunk) {
        const std::lock_guard lock(mutex_);
        const auto found = kept_.find(chunk);
        return found == kept_.end() ? std::nullopt : std::optional(found->second.elements);
    }

    /// Memory for a chunk to keep; nothing where that would be too much.
    std::optional<std::vector<std::byte>> take_buffer() {
        {
            const std::lock_guard lock(mutex_);
            if (!spare_.empty()) {
                std::vector<std::byte> buffer = std::move(spare_.back());
                spare_.pop_back();
                return buffer;
            }
            if (buffers_ >= most_) {
                return std::nullopt;
            }
            ++buffers_;
        }
        return std::vector<std::byte>(chunk_bytes_);
    }

    /// Keeps a chunk until all rows to `last_row` have been read. `elements`: in the buffer, fewer
    /// than a chunk has where it is cut.
    void keep(const Chunk& chunk, std::vector<std::byte> buffer,
              std::span<const std::byte> elements, std::int64_t last_row) {
        const std::lock_guard lock(mutex_);
        kept_.emplace(chunk, Kept{std::move(buffer), elements, last_row});
    }

    /// Drops chunks that have no row from `row` on.
    void drop_before(std::int64_t row) {
        const std::lock_guard lock(mutex_);
        for (auto kept = kept_.begin(); kept != kept_.end();) {
            if (kept->second.last_row >= row) {
                ++kept;
                continue;
            }
            spare_.push_back(std::move(kept->second.buffer));
            kept = kept_.erase(kept);
        }
    }

  private:
    struct Kept {
        std::vector<std::byte> buffer;
        std::span<const std::byte> elements;
        std::int64_t last_row = 0;
    };

    std::size_t chunk_bytes_;
    std::int64_t most_; ///< buffers
    std::mutex mutex_;  ///< of what follows
    std::map<Chunk, Kept> kept_;
    std::vector<std::vector<std::byte>> spare_;
    std::int64_t buffers_ = 0; ///< that were made, spare ones too
};

} // namespace runner
