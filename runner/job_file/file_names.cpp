// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/file_names.hpp"

#include "base/error.hpp"
#include "runner/job_file/same_file.hpp"

#include <utility>
#include <vector>

namespace runner {
namespace {

/// What a file is to the run, and its name.
using NamedFile = std::pair<std::string, std::string>;

void check_pair(const NamedFile& written, const NamedFile& other) {
    if (is_same_file(written.second, other.second)) {
        throw Error(ExitCode::usage, {"two files of the run are the same", written.second,
                                      written.first + " would be written over " + other.first,
                                      "Give one of them another name"});
    }
}

} // namespace

void check_file_names(const JobFile& job, std::span<const std::string> reports,
                      const std::optional<std::string>& trace) {
    std::vector<NamedFile> others = {{"the job file", job.path}, {"input.file", job.input.file}};
    for (const InputDataset& input : job.parameters->inputs()) {
        others.emplace_back("a dataset of [" + job.kind + "]", input.file);
    }
    std::vector<NamedFile> written;
    for (const char* ending : {"", ".partial", ".lock", ".journal"}) {
        written.emplace_back("output.file", job.output.file + ending);
    }
    for (const std::string& report : reports) {
        written.emplace_back("--report", report);
    }
    if (trace) {
        written.emplace_back("--trace", *trace);
    }
    for (const NamedFile& file : written) {
        for (const NamedFile& other : others) {
            check_pair(file, other);
        }
        others.push_back(file);
    }
}

} // namespace runner
