// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"
#include "runner/job_file/job_file.hpp"

namespace runner {

/// Where the dataset that a job reads lies: in the file that the job file names, in a stack of
/// files, or in raw ones. @throws Error (input).
DatasetLayout input_layout(const JobFile::Input& input, FileAccess& files);

} // namespace runner
