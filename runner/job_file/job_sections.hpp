// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/table.hpp"
#include "runner/job_file/job_file.hpp"

#include <string_view>
#include <vector>

namespace runner {

/// Each reads one table of the job file from the file's top and reports what is wrong with it.
/// What they return is whole only where nothing was reported.

/// Which of them names input.file and output.file.
enum class FileNames { own, batch };

/// `usual_dataset`: where the file names none; "": it must.
JobFile::Input parse_input(TableReader& top, std::string_view usual_dataset, FileNames names);

/// `input`: for the dataset's default, and to refuse an output that is the input's file. `kind`
/// makes the output; null where it is not known. `batch` names the outputs; null where output.file
/// does.
JobFile::Output parse_output(TableReader& top, const JobFile::Input& input, const Kind* kind,
                             const JobFile::Batch* batch);

/// Reports where `key`, which names the file `output` to write, names no regular file, or a format
/// that is not written, or the input's file, or what it is called until it is complete. `input` may
/// be "".
void check_written_file(TableReader& table, std::string_view key, const std::string& output,
                        const std::string& input);

JobFile::Run parse_run(TableReader& top);

/// The keys of [sweep], two at most, each with one value or more; whether the job has such a key is
/// found out where it is set.
std::vector<JobFile::SweptKey> parse_sweep(TableReader& top);

/// `name`: the job's, for the usual state folder.
JobFile::Batch parse_batch(TableReader& top, const std::string& name);

} // namespace runner
