// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_words.hpp"

#include "base/error.hpp"

#include <sstream>
#include <utility>

namespace runner {
namespace {

std::string mark_words(const FileMark& mark) {
    return std::to_string(mark.bytes) + " " + std::to_string(mark.modified) + " ";
}

} // namespace

std::string list_words(const BatchPlan& plan) {
    std::string words;
    for (const PlannedDataset& planned : plan.datasets) {
        words += std::to_string(static_cast<int>(planned.fate)) + " " + mark_words(planned.input) +
                 mark_words(planned.output) + (planned.ended_badly ? "1 " : "0 ") +
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
            planned.output.modified >> planned.ended_badly >> planned.listed.key;
        planned.fate = static_cast<Fate>(fate);
        planned.listed.input = dataset.input;
        planned.listed.output = dataset.output;
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

std::string look_words(const BatchPlan& plan, std::span<const std::size_t> places) {
    std::string words;
    for (const std::size_t place : places) {
        const PlannedDataset& planned = plan.datasets[place];
        words += std::to_string(place) + " " + std::to_string(static_cast<int>(planned.fate)) +
                 " " + std::to_string(planned.listed.bytes) + " " +
                 std::to_string(planned.listed.rows) + " " + std::to_string(planned.disk_bytes) +
                 (planned.needs_all_ranks ? " 1 " : " 0 ") +
                 std::to_string(static_cast<int>(planned.code)) + " " +
                 std::to_string(planned.identity.size()) + " " +
                 std::to_string(planned.reason.size()) + "\n" + planned.identity + planned.reason;
    }
    return words;
}

void take_looks(BatchPlan& plan, const std::string& words) {
    std::istringstream stream(words);
    const auto text = [&](std::size_t bytes) {
        std::string part(bytes, '\0');
        stream.read(part.data(), static_cast<std::streamsize>(bytes));
        return part;
    };
    for (std::size_t place = 0; stream >> place;) {
        PlannedDataset& planned = plan.datasets.at(place);
        int fate = 0;
        int code = 0;
        std::size_t identity = 0;
        std::size_t reason = 0;
        stream >> fate >> planned.listed.bytes >> planned.listed.rows >> planned.disk_bytes >>
            planned.needs_all_ranks >> code >> identity >> reason;
        stream.ignore(1); // the line's end
        planned.fate = static_cast<Fate>(fate);
        planned.code = static_cast<ExitCode>(code);
        planned.identity = text(identity);
        planned.reason = text(reason);
    }
}

} // namespace runner
