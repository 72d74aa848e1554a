// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/file_names.hpp"

#include "base/error.hpp"
#include "io/output/own_parts.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace runner {
namespace {

struct NamedFile {
    std::string what; ///< it is to the run
    std::string name;
    std::string output = {}; ///< that it is, or stands beside
};

void check_pair(const NamedFile& written, const NamedFile& other) {
    // A run that was killed may leave an output of two names, which the next one mends.
    if (!written.output.empty() && written.output == other.output) {
        return;
    }
    if (is_same_file(written.name, other.name)) {
        throw Error(ExitCode::usage, {"two files of the run are the same", written.name,
                                      written.what + " would be written over " + other.what,
                                      "Give one of them another name"});
    }
}

/// What steps save, and what passes may store beside the output.
template <class AddOutput>
void add_steps_files(const JobFile& job, std::vector<NamedFile>& others, const AddOutput& add) {
    const std::vector<StepParameters>& steps = job.pipeline->steps();
    bool any = false;
    for (const StepParameters& step : steps) {
        if (!step.save.empty()) {
            add("what " + step.label + " saves", step.save);
            others.push_back({"the file that stops it", stop_beside(step.save)});
            any = true;
        }
    }
    if (any) { // else nothing but output.file is written, and that is never beside itself
        others.push_back({"the file that stops the job", stop_beside(job.output.file)});
        for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
            others.push_back({"what pass " + std::to_string(i + 1) + " may store",
                              intermediate_file(job.output.file, i)});
        }
    }
}

} // namespace

std::string stop_beside(const std::string& output) {
    return std::filesystem::path(output).replace_filename("STOP").string();
}

std::string intermediate_file(const std::string& output, std::size_t index) {
    return output + ".pass-" + std::to_string(index + 1) + ".h5";
}

void check_file_names(const JobFile& job, std::span<const std::string> reports,
                      const std::optional<std::string>& trace) {
    std::vector<NamedFile> others = {{"the job file", job.path}, {"input.file", job.input.file}};
    for (const InputDataset& input : job.parameters->inputs()) {
        others.push_back({"a dataset of [" + job.kind + "]", input.file});
    }
    if (!job.input.invalid.mask_file.empty()) {
        others.push_back({"the mask of input.invalid", job.input.invalid.mask_file});
    }
    std::vector<NamedFile> written;
    const auto add_output = [&written](const std::string& what, const std::string& file) {
        written.push_back({what, file, file});
        for (const std::string& name : names_on_the_way(file)) {
            written.push_back({what, name, file});
        }
    };
    add_output("output.file", job.output.file);
    if (job.pipeline) {
        add_steps_files(job, others, add_output);
    }
    for (const std::string& report : reports) {
        written.push_back({"--report", report});
    }
    if (trace) {
        written.push_back({"--trace", *trace});
    }
    for (const NamedFile& file : written) {
        for (const NamedFile& other : others) {
            check_pair(file, other);
        }
        others.push_back(file);
    }
}

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code failure;
    if (fs::equivalent(a, b, failure) && !failure) {
        return true;
    }
    const fs::path path_a = fs::weakly_canonical(fs::absolute(a, failure), failure);
    const fs::path path_b = fs::weakly_canonical(fs::absolute(b, failure), failure);
    return !failure && path_a == path_b;
}

} // namespace runner
