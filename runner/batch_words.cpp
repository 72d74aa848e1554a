// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch_words.hpp"

#include "base/error.hpp"

#include <sstream>
#include <utility>

namespace runner {
namespace {

std::string mark_words(const FileMark& mark) {
    return std::to_string(mark.bytes) + " " + std::to_string(mark.modified) + " ";
}

} // namespace

std::string plan_words(const BatchPlan& plan) {
    std::string words;
    for (const PlannedDataset& planned : plan.datasets) {
        words += std::to_string(static_cast<int>(planned.fate)) + " " + mark_words(planned.input) +
                 mark_words(planned.output) + std::to_string(planned.listed.bytes) + " " +
                 (planned.needs_all_ranks ? "1 " : "0 ") + (planned.ended_badly ? "1 " : "0 ") +
                 planned.listed.key + "\n";
    }
    return words;
}

BatchPlan plan_of_words(const std::string& words, JobFile job, std::vector<std::string> settings) {
    BatchPlan plan;
    plan.job = std::move(job);
    plan.settings = std::move(settings);
    std::istringstream stream(words);
    for (BatchDataset& dataset : list_datasets(plan.job)) {
        PlannedDataset planned;
        int fate = 0;
        stream >> fate >> planned.input.bytes >> planned.input.modified >> planned.output.bytes >>
            planned.output.modified >> planned.listed.bytes >> planned.needs_all_ranks >>
            planned.ended_badly >> planned.listed.key;
        planned.fate = static_cast<Fate>(fate);
        planned.dataset = std::move(dataset);
        plan.datasets.push_back(std::move(planned));
    }
    std::string more;
    if (!stream || stream >> more) {
        throw Error(ExitCode::launch,
                    {"the ranks see different datasets", plan.job.path,
                     "the folders of the inputs change, or are not the same on every host",
                     "Start again when nothing writes there, or use a manifest"});
    }
    return plan;
}

} // namespace runner
