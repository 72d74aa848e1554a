// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_record.hpp"

#include "io/formats/slice_names.hpp"

#include <unordered_map>
#include <utility>

namespace runner::batch {
namespace {

/// The datasets of the list that is there, by output; none where it cannot be read.
std::unordered_map<std::string, ListedDataset> listed_before(const std::string& folder) {
    std::unordered_map<std::string, ListedDataset> all;
    try {
        for (ListedDataset& dataset : read_list(folder).datasets) {
            std::string output = dataset.output;
            all.emplace(std::move(output), std::move(dataset));
        }
    } catch (const Error&) { // it is made again
    }
    return all;
}

} // namespace

Record::Record(std::string folder, const std::string& host)
    : folder_(std::move(folder)), log_(folder_, host) {}

void Record::plan(const Plan& plan) {
    const std::unordered_map<std::string, ListedDataset> before = listed_before(folder_);
    DatasetList list{plan.job.name, plan.job.kind, {}};
    for (const PlannedDataset& planned : plan.datasets) {
        list.datasets.push_back(planned.listed);
        const auto known = before.find(planned.dataset.output);
        if (planned.fate == Fate::done && planned.identity.empty() && known != before.end()) {
            // It was not inspected again.
            list.datasets.back().bytes = known->second.bytes;
            list.datasets.back().rows = known->second.rows;
        }
    }
    write_list(folder_, list);
    for (const PlannedDataset& planned : plan.datasets) {
        if (planned.fate == Fate::refused) {
            failed(planned, planned.code, planned.reason);
        } else if (planned.fate == Fate::done && !planned.identity.empty()) {
            done(planned, planned.identity, planned.input, planned.files, 0);
        }
    }
}

void Record::started(const PlannedDataset& planned) { plain(planned, DatasetEvent::What::started); }

void Record::stopped(const PlannedDataset& planned) { plain(planned, DatasetEvent::What::stopped); }

void Record::failed(const PlannedDataset& planned, ExitCode code, const std::string& reason) {
    DatasetEvent event;
    event.what = DatasetEvent::What::failed;
    event.code = code;
    event.reason = reason;
    log_.add(planned.dataset.output, std::move(event));
}

void Record::done(const PlannedDataset& planned, const std::string& identity, const FileMark& input,
                  const FileMarks& files, double seconds) {
    DatasetEvent event;
    event.what = DatasetEvent::What::done;
    event.seconds = seconds;
    event.key = planned.listed.key;
    event.identity = identity;
    event.input = input;
    event.files = files;
    event.output = mark_of_output(planned.dataset.output);
    log_.add(planned.dataset.output, std::move(event));
}

void Record::plain(const PlannedDataset& planned, DatasetEvent::What what) {
    DatasetEvent event;
    event.what = what;
    log_.add(planned.dataset.output, std::move(event));
}

} // namespace runner::batch
