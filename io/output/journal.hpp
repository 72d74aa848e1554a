// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// Beside an output under way stands a folder, its journal: which rows are finished, with their
/// checksums, and the identity of the job they are part of. It lasts until the output has its name.
///
/// It is made, empty, before the output is. In it: `identity`, the attempt's number and the
/// identity's text, written whole or not at all; and files of records, `ATTEMPT-NAME.rows`, one
/// a rank, of which only those of the identity's attempt count. A file is a header and records
/// of 32 bytes:
///
///   header  "RNROWS1\n", uint64 attempt, 12 bytes 0, uint32 check
///   record  uint64 first, uint64 rows, uint64 hash, uint32 batch, uint32 check
///
/// all little-endian; check: the low half of hash_bytes() over the 28 bytes before, with the
/// attempt's number behind them, so that what an older file left on the disk does not pass. The
/// records of one append share a batch number, which counts from 1 in each file. Rows come into a
/// file only when they are on the disk (or, where the user gave up syncing, in the system's cache).

/// `FILE.journal`.
std::string journal_folder(const std::string& file);

/// What the journal says of its job.
struct JournalIdentity {
    std::int64_t attempt = 0;
    std::string text;
};

/// Whether there may be a finished row in the journal: a file of records, of any attempt, that
/// is longer than its header. Opens no file, so it can be asked of a damaged journal too. False
/// without a journal. @throws Error (output).
bool lists_rows(const std::string& folder);

/// Nothing when there is no journal or it was never begun. Reads at most 16 MiB. @throws Error
/// (output) for a damaged or longer one, or one of another version.
std::optional<JournalIdentity> read_identity(const std::string& folder);

/// The identity from the bytes of its file; `name` is for messages. @throws like read_identity.
JournalIdentity parse_identity(const std::string& bytes, const std::string& name);

/// The parts of the output under way, as the journal beside OUT says. Nothing without a journal,
/// for a damaged one and for an output of one file.
std::optional<PartLayout> parts_in_journal(const std::string& file);

/// Makes the folder. One without an identity says that there is nothing to resume.
/// @throws Error (output).
void make_journal(const std::string& folder);

/// Makes the folder if need be and puts the identity in place, whole or not at all; the
/// attempt's files of records must be there before. Files of other attempts are removed
/// after.
void write_identity(const std::string& folder, const JournalIdentity& identity,
                    RowWriter::Sync sync = RowWriter::Sync::yes);

/// Makes the folder where there is none, and removes all that is in it: an empty one says that an
/// output is about to be made. `sync`: that lasts when this returns. @throws Error (output).
void clear_journal(const std::string& folder, RowWriter::Sync sync);

/// Marks the journal of an output that nobody is to resume as begun. @throws Error (output).
void begin_without_identity(const std::string& folder);

/// Removes the folder and all of it; nothing if there is none.
void remove_journal(const std::string& folder);

/// The finished rows that the attempt's files list, in the order of the rows.
struct JournalRows {
    std::vector<RowHash> rows;
    std::vector<std::string> notes; ///< a line for each file that a power cut has torn
};

/// Never gives a record whose check fails. Bad bytes at the end of a file, where an append was cut
/// short, are left out and noted. @throws Error (output) for bad bytes before records of an
/// earlier batch, a batch missing as a whole, a file of another version, a file longer than records
/// of `total_rows` rows, rows outside [0, total_rows) or listed twice.
JournalRows read_journal(const std::string& folder, std::int64_t attempt, std::int64_t total_rows);

/// The records of one file of the journal, from its bytes: what read_journal does for each, without
/// the order and the comparison of rows. `name` is for messages.
JournalRows parse_journal(std::span<const std::byte> bytes, std::int64_t attempt,
                          std::int64_t total_rows, const std::string& name);

/// Appends records to one file.
class JournalWriter {
  public:
    /// Makes the file with its header. `name` is different for each writer of the attempt:
    /// "rank-3". `sync` no: it is left to the system when header and records come to the disk.
    JournalWriter(const std::string& folder, std::int64_t attempt, const std::string& name,
                  RowWriter::Sync sync = RowWriter::Sync::yes);

    /// One batch, on the disk when this returns. The rows must be there before. After an Error the
    /// batch may be there in part, and the same or a longer one may be tried again.
    void append(std::span<const RowHash> rows);

  private:
    File file_;
    RowWriter::Sync sync_;
    std::int64_t attempt_ = 0;
    std::int64_t end_ = 0;
    std::uint32_t batches_ = 0;
};

} // namespace runner
