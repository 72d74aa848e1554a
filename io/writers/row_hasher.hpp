// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/io_threads.hpp"
#include "io/writers/row_hashes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runner {

/// Checksums of rows by several threads. One thread hashes 5 GB a second of what a GPU has just
/// delivered, and a link delivers ten times that.
class RowHasher {
  public:
    /// `group`: the output's rows that can only be written together, as those of stored chunks are;
    /// 1 where each can be written by itself.
    RowHasher(int threads, std::int64_t group) : threads_(threads), group_(group) {}

    /// About so many bytes of rows have a checksum of their own: small enough that all threads have
    /// a part of a chunk, and large enough that the list of checksums stays small beside the rows.
    static constexpr std::int64_t run_bytes = 1 << 20;

    /// The checksums of `rows` rows at `data`, the first of which is row `first`; cut into runs
    /// alike for any number of threads. Resume and repair write whole runs: where rows are in
    /// groups, all rows given are one run.
    std::vector<RowHash> hash(std::int64_t first, std::int64_t rows, std::int64_t row_bytes,
                              const std::byte* data);

  private:
    IoThreads threads_;
    std::int64_t group_;
};

} // namespace runner
