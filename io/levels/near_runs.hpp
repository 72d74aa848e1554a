// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/files/file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace runner {

/// Short runs of bytes to read from a file. Those that lie near one another there are read at once:
/// a call costs as much as the copying of some KiB.
class NearRuns {
  public:
    static constexpr std::int64_t most_span = 512 * KiB; ///< that is read at once, and held

    /// Bytes of the file from `at` on, which read() puts to `to`.
    void add(std::int64_t at, std::int64_t bytes, std::byte* to) {
        runs_.push_back({at, bytes, to});
    }

    /// Reads what was added since the last call. @throws Error as File::read().
    void read(const File& file);

  private:
    struct Run {
        std::int64_t at = 0;
        std::int64_t bytes = 0;
        std::byte* to = nullptr;

        std::int64_t end() const { return at + bytes; }
    };

    void read_together(const File& file, std::span<const Run> runs);

    std::vector<Run> runs_;
    std::vector<std::byte> span_; ///< runs and what is between them
};

} // namespace runner
