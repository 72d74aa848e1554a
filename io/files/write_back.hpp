// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"

#include <cstdint>

namespace runner {

/// Counts the bytes that are written to a file which is synced at its end, and says when to begin
/// to bring them to the disk (File::start_sync()), so that less is left then.
class WriteBack {
  public:
    /// Counts so many bytes more. Whether those since the last time are enough.
    bool is_due(std::int64_t bytes) noexcept {
        constexpr std::int64_t most = 64 * MiB; // of some 20 to 60 ms on a disk
        waiting_ += bytes;
        if (waiting_ < most) {
            return false;
        }
        waiting_ = 0;
        return true;
    }

  private:
    std::int64_t waiting_ = 0;
};

} // namespace runner
