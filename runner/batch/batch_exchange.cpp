// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_exchange.hpp"

#include "base/error.hpp"

#include <utility>

namespace runner::batch {

std::vector<ListedState> listed_states(const Plan& plan) {
    std::vector<ListedState> list;
    for (const PlannedDataset& planned : plan.datasets) {
        list.push_back(
            {planned.fate, planned.input, planned.output, planned.ended_badly, planned.listed.key});
    }
    return list;
}

Plan plan_of_list(const std::vector<ListedState>& list, JobFile job,
                  std::vector<std::string> settings) {
    Plan plan;
    plan.job = std::move(job);
    plan.settings = std::move(settings);
    std::vector<Dataset> datasets = list_datasets(plan.job, plan.settings).datasets;
    if (datasets.size() != list.size()) {
        throw Error(ExitCode::launch,
                    {"the ranks see different datasets", plan.job.path,
                     "the folders of the inputs change, or are not the same on every host",
                     "Start again when nothing writes there, or use a manifest"});
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        PlannedDataset planned;
        planned.fate = list[i].fate;
        planned.input = list[i].input;
        planned.output = list[i].output;
        planned.ended_badly = list[i].ended_badly;
        planned.listed.key = list[i].key;
        planned.listed.input = datasets[i].input;
        planned.listed.output = datasets[i].output;
        planned.dataset = std::move(datasets[i]);
        plan.datasets.push_back(std::move(planned));
    }
    return plan;
}

std::vector<DatasetFinding> dataset_findings(const Plan& plan,
                                             std::span<const std::size_t> places) {
    std::vector<DatasetFinding> findings;
    for (const std::size_t place : places) {
        const PlannedDataset& planned = plan.datasets[place];
        findings.push_back({place, planned.fate, planned.listed.bytes, planned.listed.rows,
                            planned.disk_bytes, planned.between_bytes, planned.needs_all_ranks,
                            planned.code, planned.identity, planned.reason, planned.files});
    }
    return findings;
}

void take_findings(Plan& plan, const std::vector<DatasetFinding>& findings) {
    for (const DatasetFinding& finding : findings) {
        PlannedDataset& planned = plan.datasets.at(finding.place);
        planned.fate = finding.fate;
        planned.listed.bytes = finding.bytes;
        planned.listed.rows = finding.rows;
        planned.disk_bytes = finding.disk_bytes;
        planned.between_bytes = finding.between_bytes;
        planned.needs_all_ranks = finding.needs_all_ranks;
        planned.code = finding.code;
        planned.identity = finding.identity;
        planned.reason = finding.reason;
        planned.files = finding.files;
    }
}

} // namespace runner::batch
