// SPDX-License-Identifier: BSD-3-Clause
#include "runner/memory/in_core_job.hpp"

#include "base/error.hpp"
#include "runner/memory/in_core_run.hpp"
#include "runner/memory/memory_files.hpp"
#include "runner/prepare/passes.hpp"

#include <array>
#include <utility>

namespace runner {

InCoreJob::InCoreJob(const std::string& text, const std::string& name, const ArrayInfo& input,
                     std::optional<int> channels, const std::vector<NamedArray>& arrays)
    : input_(input) {
    MemoryFiles files(memory_info(input, channels), arrays);
    for (const JobPass& pass :
         passes_of(parse_array_job(text, name), files, RowOrders::are_passes)) {
        passes_.push_back(prepare_pass(pass, files));
        if (passes_.back().mask) {
            throw Error(ExitCode::usage,
                        {"a mask is for arrays of the host", "input.invalid",
                         "the input is on a GPU, where it stays as it is",
                         "Write a number into its masked elements and pass that, or copy the "
                         "array to the host"});
        }
    }
    const PreparedJob& last = passes_.back();
    for (const OutputField& field : last.job->fields()) {
        outputs_.push_back(field.array);
    }
    if (outputs_.empty()) {
        outputs_.push_back(last.output());
    }
}

void InCoreJob::run(Queue& queue, const std::byte* input, std::span<std::byte* const> outputs,
                    const TakeMemory& take, const InCoreLimits& limits) const {
    for (std::size_t i = 0; i < passes_.size(); ++i) {
        if (i + 1 == passes_.size()) {
            run_in_core(queue, passes_[i], input, outputs, take, limits);
            return;
        }
        const std::array<std::byte*, 1> made = {take(byte_count(passes_[i].output()))};
        run_in_core(queue, passes_[i], input, made, take, limits);
        input = made[0];
    }
}

} // namespace runner
