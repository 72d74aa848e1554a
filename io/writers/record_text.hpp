// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/files/file_mark.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/writers/row_hashes.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What a finished output of a format without attributes says of itself. It stands in a text file
/// beside the output, `FILE.identity`, or in a folder that has it (FolderOfChunks::record), there
/// as JSON (io/writers/record_json.hpp):
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
/// name; in a folder the record itself does not count. Earlier versions put it beside folders too,
/// where it is still read. Version 2 has no checksums of its own, and the rows within `record`.
/// Version 1 ends with the identity.
struct BesideRecord {
    std::string identity; ///< of the job, as job_identity()
    ArrayInfo array;      ///< of the output
    std::vector<Attribute> attributes;
    std::vector<RowHash> rows; ///< of all its rows
    /// digest_of_rows() as it was when the output was made; nothing in versions before 3.
    std::optional<std::string> rows_checksum = {};
};

/// The version of records that are written.
inline constexpr int latest_record = 3;

/// What begins the line that an identity ends before.
inline constexpr std::string_view record_key = "\nrecord = ";

/// What the text of a record ends with.
constexpr std::string_view end_of_record(int version) {
    return version == latest_record ? "]\n" : "}\n";
}

/// What the record begins with of a file with this ending, and with this mark.
std::string first_record_line(std::string_view ending, int version);
std::string record_head(std::string_view ending, const FileMark& mark, int version);

/// Whether the text begins as a record of whatever version and mark does.
bool has_record_head(std::string_view ending, std::string_view text);

/// The list of rows in the text of a record of version 3, or the first part of it; nothing
/// where the text before does not match its checksum.
std::optional<std::string_view> sealed_rows(std::string_view text);

/// The whole text.
std::string record_text(std::string_view ending, const FileMark& mark, const BesideRecord& record);

/// The record in a text whose identity begins there. @throws JsonError for a damaged one, and
/// Error for a shape that is too large.
BesideRecord parse_record(const std::string& text, std::size_t identity_at, int version);

} // namespace runner
