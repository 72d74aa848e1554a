// SPDX-License-Identifier: BSD-3-Clause
#include "runner/memory/memory_files.hpp"

#include "base/error.hpp"
#include "runner/memory/memory_rows.hpp"

#include <algorithm>

namespace runner {
namespace {

[[noreturn]] void refuse(const std::string& file) {
    throw Error(ExitCode::usage,
                {"cannot read a file", file, "the job works on arrays in memory alone",
                 "Run it as a job file, or pass arrays and numbers"});
}

} // namespace

JobFile parse_array_job(const std::string& text, const std::string& name) {
    JobFile job = parse_job_text(text, name, {});
    for (const StepParameters& step :
         job.pipeline ? job.pipeline->steps() : std::vector<StepParameters>{}) {
        if (!step.save.empty()) {
            throw Error(ExitCode::usage,
                        {"a job on arrays writes no files", step.where + ", " + step.label,
                         "it has save = " + step.save,
                         "Leave save out, or run the steps up to this one as a job of their own"});
        }
    }
    return job;
}

DatasetInfo memory_info(const ArrayInfo& array, std::optional<int> channels) {
    DatasetInfo info;
    info.array = array;
    info.storage = "memory";
    info.offset = 0;
    info.channels = channels;
    return info;
}

const NamedArray* MemoryFiles::find(const std::string& name) const {
    const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                    [&](const NamedArray& array) { return array.name == name; });
    return found == arrays_.end() ? nullptr : &*found;
}

DatasetLayout MemoryFiles::layout(const std::string& file, const std::string& dataset) {
    const NamedArray* const named = find(file);
    return {file, dataset, file, named == nullptr ? input_ : memory_info(named->array, {}),
            DatasetLayout::Way::positions};
}

FileContent MemoryFiles::content(const std::string& file, const std::string& /*dataset*/) {
    refuse(file);
}

std::unique_ptr<RowReader> MemoryFiles::open(const DatasetLayout& layout, int threads) {
    const NamedArray* const named = find(layout.file);
    if (named == nullptr) {
        refuse(layout.file);
    }
    return open_memory_rows(layout.info, named->data, threads);
}

void MemoryFiles::store_chunks(const std::string& file, const std::string& /*dataset*/,
                               const std::vector<PackedChunk>& /*chunks*/) {
    refuse(file);
}

} // namespace runner
