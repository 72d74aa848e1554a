// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/io_threads.hpp"
#include "io/writers/row_hashes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// Checksums of rows by several threads. One thread hashes some 8 GB a second from memory, a
/// quarter of what a GPU's link delivers.
class RowHasher {
  public:
    /// `io_threads`: of the plan; four of them are enough for any link.
    explicit RowHasher(int io_threads) : threads_(std::min(io_threads, 4)) {}

    /// Of `rows` rows at `data`, the first of which is row `first`: in runs of some io_block_bytes,
    /// cut alike for any number of threads.
    std::vector<RowHash> hash(std::int64_t first, std::int64_t rows, std::int64_t row_bytes,
                              const std::byte* data);

  private:
    IoThreads threads_;
};

} // namespace runner
