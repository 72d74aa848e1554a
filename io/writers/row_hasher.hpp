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
    explicit RowHasher(int threads) : threads_(threads) {}

    /// About so many bytes of rows have a checksum of their own: small enough that all threads have
    /// a part of a chunk, and large enough that the list of checksums stays small beside the rows.
    static constexpr std::int64_t run_bytes = 1 << 20;

    /// Where runs may be cut. Resume and repair write whole runs: where the output's rows can only
    /// be written in groups, as in stored chunks, all rows given are one run.
    enum class Cut { nowhere, anywhere };

    /// Of `rows` rows at `data`, the first of which is row `first`; cut into runs alike for any
    /// number of threads.
    std::vector<RowHash> hash(std::int64_t first, std::int64_t rows, std::int64_t row_bytes,
                              const std::byte* data, Cut cut);

  private:
    IoThreads threads_;
};

} // namespace runner
