// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// The bytes of a job file: a regular file of at most 1 MiB.
/// @throws Error (usage) saying why not; for a missing one, with the files near it by name.
std::string read_job_text(const std::string& path);

} // namespace runner
