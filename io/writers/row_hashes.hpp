// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/io_threads.hpp"
#include "io/rows/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace runner {

class FileAccess;

/// A run of an output's rows, counted through all leading axes, and the checksum of their bytes.
struct RowHash {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::uint64_t hash = 0; ///< hash_bytes() of the rows as elements in memory, one after the other

    bool operator==(const RowHash&) const = default;
    static auto members(auto& self) { return std::tie(self.first, self.rows, self.hash); }
};

/// Where a finished output lists the checksums of its rows: an n × 3 dataset of unsigned 64-bit
/// integers, a line a run of rows (first, rows, hash), in the order of the rows and gapless. How
/// the rows are cut into runs depends on the run's chunks; the rows do not.
inline constexpr const char* row_hashes_dataset = "/runner/row_hashes";

/// What is wrong with a list that is to cover `total_rows` rows in their order and gapless; empty
/// where nothing is.
std::string gap_in(const std::vector<RowHash>& hashes, std::int64_t total_rows);

/// Digest of the list's elements as they are stored: a checksum of the checksums.
std::string digest_of_rows(const std::vector<RowHash>& hashes);

/// Stores the list in the output, which has none of that name yet. @throws Error (output).
void write_row_hashes(const std::string& file, const std::vector<RowHash>& hashes,
                      const std::string& name = row_hashes_dataset);

/// Stores a list of as many runs over the one the output has, in place.
/// @throws Error (output); (input) as read_row_hashes().
void replace_row_hashes(FileAccess& files, const std::string& file,
                        const std::vector<RowHash>& hashes);

/// The list of a finished output of so many rows. @throws Error (input) when the file has none or
/// it does not cover each row once.
std::vector<RowHash> read_row_hashes(FileAccess& files, const std::string& file,
                                     std::int64_t total_rows);

/// A list of that name, of runs in the order of their rows, below `total_rows`, with gaps or
/// without. The same errors.
std::vector<RowHash> read_row_list(FileAccess& files, const std::string& file,
                                   const std::string& name, std::int64_t total_rows);

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
                              const std::byte* data) {
        return hash(std::vector<RowsInMemory>{{first, rows, data}}, row_bytes);
    }

    /// The same of several runs of rows, by all threads at once.
    std::vector<RowHash> hash(std::span<const RowsInMemory> all, std::int64_t row_bytes);

  private:
    IoThreads threads_;
    std::int64_t group_;
};

} // namespace runner
