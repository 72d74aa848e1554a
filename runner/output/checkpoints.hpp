// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/output/journal.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace runner::output {

/// States from which an evolving job can resume. Each is a folder in the job's journal,
/// `checkpoint-GENERATION`: a file `state`, the rows as they are in device memory one after the
/// other, and files of records as the journal's, by which it is known whether all rows are there
/// and right.

/// A state of `rows` rows of `row_bytes` bytes.
struct StateSize {
    std::int64_t rows = 0;
    std::int64_t row_bytes = 0;
};

/// Whether the journal has a checkpoint, whole or not.
bool has_checkpoint(const std::string& journal);

/// Makes room for a checkpoint, in place of what a killed run left of it. By one rank, before any
/// opens a CheckpointWriter.
void begin_checkpoint(const std::string& journal, std::uint64_t generation);

/// Writes a rank's rows of a checkpoint.
class CheckpointWriter {
  public:
    CheckpointWriter(const std::string& journal, std::uint64_t generation, int rank,
                     std::int64_t row_bytes, RowWriter::Sync sync);

    /// Rows [first, first + rows).
    void write(std::int64_t first, std::int64_t rows, const std::byte* from);
    /// The rows are on the disk, and known to be there, when this returns.
    void finish();

  private:
    std::int64_t row_bytes_;
    RowWriter::Sync sync_;
    File file_;
    JournalWriter journal_;
    std::vector<RowHash> written_;
};

/// Removes all checkpoints but that of `generation`.
void remove_other_checkpoints(const std::string& journal, std::uint64_t generation);

/// The latest generation with a checkpoint that is whole and right, of those that `usable` takes;
/// nothing where there is none. Reads all of it.
std::optional<std::uint64_t> latest_checkpoint(const std::string& journal, const StateSize& size,
                                               const std::function<bool(std::uint64_t)>& usable);

/// The file with a checkpoint's rows, to read.
File open_checkpoint(const std::string& journal, std::uint64_t generation);

} // namespace runner::output
