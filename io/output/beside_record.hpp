// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/record_text.hpp"

#include <optional>
#include <string>

namespace runner {

/// Where the records of finished outputs (io/writers/record_text.hpp) stand, and when they get
/// there.

/// Whether an output of this name has such a record: it is no HDF5 file.
bool is_recorded_beside(const std::string& file);

/// The file of the record: the one that is there, or that is to be.
std::string beside_record_path(const std::string& file);

/// "the record beside it (PATH)", or "the record in it (PATH)".
std::string beside_record_text(const std::string& file);

/// The identity of the job that made the file. Nothing where there is no record of it, or one of
/// another file. Reads at most 16 MiB, of JSON 1 GiB.
std::optional<std::string> identity_beside(const std::string& file);

/// Writes the record of the complete FILE.partial into FILE's journal, before that is renamed. A
/// folder gets it too, and its journal has it without the rows. @throws Error (output).
void prepare_beside_record(const std::string& file, const BesideRecord& record,
                           RowWriter::Sync sync);

/// The identity in the record that is in FILE's journal, where that is of FILE: a run died after it
/// had renamed its output.
std::optional<std::string> identity_in_journal(const std::string& file);

/// Refuses what has the name of FILE's record to be and is none, whatever file it is of: a text of
/// others, a link. One that is empty may be replaced. @throws Error (output).
void check_beside_record(const std::string& file);

/// Puts that record beside FILE; nothing where the journal has none of FILE. A folder has it, and
/// loses one of an earlier version that stands beside it.
/// @throws Error (output), as check_beside_record() and where the record cannot be read.
void publish_beside_record(const std::string& file, RowWriter::Sync sync);

/// The record, whatever has become of the file since. @throws Error (input) where there is none, or
/// one of version 1, or a damaged one.
BesideRecord read_beside_record(const std::string& file);

/// Replaces the record by one of the file as it is now, in a folder where that has it.
/// @throws Error (output).
void write_beside_record(const std::string& file, const BesideRecord& record);

} // namespace runner
