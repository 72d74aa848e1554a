// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace runner {

/// The bytes of a job file: a regular file of at most 1 MiB.
/// @throws Error (usage) saying why not; for a missing one, with the files near it by name.
std::string read_job_text(const std::string& path);

/// The bytes of another regular file that a person wrote; `what`: "the list of inputs".
/// @throws Error (usage) as above.
std::string read_user_text(const std::string& path, const std::string& what,
                           std::int64_t most_bytes);

/// What to write in place of a path that begins with ~/, as shells have it; empty for others.
std::string home_text(const std::string& path);

/// For a path that is not there: "Did you mean jobs/conv_32k.toml?", or the first few files of the
/// same ending in the nearest folder that exists, or where a relative path was looked up; empty
/// when there is nothing to say.
std::string nearest_files_text(const std::string& path);

} // namespace runner
