// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What a finished output of a format without attributes says of itself. It stands in a text file
/// beside the output, `FILE.identity`:
///
///   runner .npy output 3
///   bytes = 4096128             of the output
///   modified = 1795310460000000005 ns
///   kind = convolve             the lines of the identity
///   …
///   record = {"array": …, "attributes": {…}, "row_hashes_checksum": "…"}
///   checksum = …                Digest of all lines before
///   row_hashes = [[first row, rows, "hash"], …]
///
/// The record is of the file that has these bytes and this time, and not of another one of that
/// name. Version 2 has no checksums of its own, and the rows within `record`. Version 1 ends with
/// the identity.
struct BesideRecord {
    std::string identity; ///< of the job, as job_identity()
    ArrayInfo array;      ///< of the output
    std::vector<Attribute> attributes;
    std::vector<RowHash> rows; ///< of all its rows
    /// digest_of_rows() as it was when the output was made; nothing in versions before 3.
    std::optional<std::string> rows_checksum = {};
};

/// Whether an output of this name has its record beside it: it is no HDF5 file.
bool is_recorded_beside(const std::string& file);

std::string beside_record_path(const std::string& file);

/// The identity of the job that made the file. Nothing where there is no record beside it, or one
/// of another file. Reads at most 16 MiB.
std::optional<std::string> identity_beside(const std::string& file);

/// Writes the record of the complete FILE.partial into FILE's journal, before that is renamed.
/// @throws Error (output).
void prepare_beside_record(const std::string& file, const BesideRecord& record,
                           RowWriter::Sync sync);

/// The identity in the record that is in FILE's journal, where that is of FILE: a run died after it
/// had renamed its output.
std::optional<std::string> identity_in_journal(const std::string& file);

/// Refuses what has the name of FILE's record and is none, whatever file it is of: a text of
/// others, a link. One that is empty may be replaced. @throws Error (output).
void check_beside_record(const std::string& file);

/// Puts that record beside FILE; nothing where the journal has none of FILE.
/// @throws Error (output), as check_beside_record() and where the record cannot be read.
void publish_beside_record(const std::string& file, RowWriter::Sync sync);

/// The record, whatever has become of the file since. @throws Error (input) where there is none, or
/// one of version 1, or a damaged one.
BesideRecord read_beside_record(const std::string& file);

/// Replaces the record by one of the file as it is now. @throws Error (output).
void write_beside_record(const std::string& file, const BesideRecord& record);

} // namespace runner
