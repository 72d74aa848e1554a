// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/table.hpp"
#include "runner/job_file/job_file.hpp"

#include <string_view>

namespace runner {

/// Each reads one table of the job file from the file's top and reports what is wrong with it.
/// What they return is whole only where nothing was reported.

/// Which of them names input.file and output.file.
enum class FileNames { own, batch };

/// `usual_dataset`: where the file names none; "": it must.
JobFile::Input parse_input(TableReader& top, std::string_view usual_dataset, FileNames names);

/// Whether a job's output may be a .sand file.
enum class SandFiles { none, allowed };

/// What output.dataset names: a dataset, by default as the input's; or the group of several, by
/// default the root.
enum class OutputPlace { dataset, group };

/// `input`: for the dataset's default, and to refuse an output that is the input's file.
JobFile::Output parse_output(TableReader& top, const JobFile::Input& input, SandFiles sand_files,
                             OutputPlace place, FileNames names);

JobFile::Run parse_run(TableReader& top);

/// `name`: the job's, for the usual state folder.
JobFile::Batch parse_batch(TableReader& top, const std::string& name);

} // namespace runner
