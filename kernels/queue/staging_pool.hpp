// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/buffer.hpp"

#include <cstdint>
#include <list>
#include <mutex>

namespace runner {

/// Page-locked host memory that outlives the jobs that use it, for a process that runs many: to
/// lock 1 GiB takes 0.46 s (docs/adr/0019-arrays-in-memory.md). From any thread.
class StagingPool {
  public:
    /// Keeps `most_bytes` at most.
    explicit StagingPool(std::int64_t most_bytes) : most_bytes_(most_bytes) {}
    StagingPool(const StagingPool&) = delete;
    StagingPool& operator=(const StagingPool&) = delete;
    ~StagingPool() = default;

    /// Memory of so many bytes, which is then the caller's; an empty buffer where none is kept.
    Buffer take(std::int64_t bytes);

    /// Keeps memory. What was kept longest is given back where it is too much.
    void keep(Buffer buffer) noexcept;

    /// Gives back all that is kept.
    void clear() noexcept;

    std::int64_t kept_bytes() const;

  private:
    const std::int64_t most_bytes_;
    mutable std::mutex mutex_;
    std::list<Buffer> kept_; ///< the longest kept first
    std::int64_t bytes_ = 0;
};

} // namespace runner
