// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/plan/prepare.hpp"

#include <optional>
#include <string>

namespace runner {

/// A .sand file has no place for attributes. What a finished one is stands in a file beside it,
/// `FILE.identity`: a line with the version of this format, two with the bytes and the time of the
/// .sand file it is of, and the identity of the job. It holds for that .sand file only, not for
/// another one of that name.
std::string sand_record_path(const std::string& file);

/// The identity of the job that made the .sand file, as job_identity(). Nothing where there is no
/// record, or one of another file.
std::optional<std::string> recorded_sand_identity(const std::string& file);

/// Records the identity of the finished .sand output and, where output.sync is set, waits until it
/// is on the disk. @throws Error (output).
void record_sand_identity(const PreparedJob& prepared, const std::string& identity);

/// Whether a run of this job died between the renaming of its .sand output and
/// record_sand_identity: the journal beside the output lists all of its rows, and they are as the
/// journal has them.
/// @throws Error (output).
bool is_published_sand(const PreparedJob& prepared, const std::string& identity);

} // namespace runner
