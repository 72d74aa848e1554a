// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows.hpp"
#include "runner/job_file.hpp"

#include <string>

namespace runner {

/// Makes a file with one contiguous dataset of a synthetic pattern (kernels/patterns.hpp) on
/// `threads` ≥ 1 threads. A few tens of MiB at a time pass through memory, or one row where rows
/// are longer. The file has the name FILE.partial until it is complete.
/// @throws Error: (usage) for an unknown pattern or a shape without elements; (output) for a file
/// that exists and is not to be overwritten, and when storage fails: nothing is left then.
void generate(const GenerateRequest& request, const std::string& file, const std::string& dataset,
              int threads, Overwrite overwrite = Overwrite::no);

} // namespace runner
