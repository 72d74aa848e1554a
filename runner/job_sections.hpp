// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/table.hpp"
#include "runner/job_file.hpp"

#include <string_view>

namespace runner {

/// Each reads one table of the job file from the file's top and reports what is wrong with it.
/// What they return is whole only where nothing was reported.

/// `usual_dataset`: where the file names none; "": it must.
JobFile::Input parse_input(TableReader& top, std::string_view usual_dataset);

/// `input`: for the dataset's default, and to refuse an output that is the input's file.
JobFile::Output parse_output(TableReader& top, const JobFile::Input& input);

JobFile::Run parse_run(TableReader& top);

} // namespace runner
