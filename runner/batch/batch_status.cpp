// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_status.hpp"

#include "base/durations.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "io/files/file_lock.hpp"
#include "io/formats/slice_names.hpp"
#include "io/input/stack.hpp"
#include "io/output/journal.hpp"
#include "runner/batch/batch_events.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;
using Is = DatasetStatus::Is;

constexpr std::array<const char*, 6> words = {"done",    "running", "stopped",
                                              "waiting", "stale",   "failed"};

bool is_state(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / "datasets.jsonl", ignored);
}

/// The state folder that is meant by the folder.
std::string find_state(const std::string& folder) {
    if (is_state(folder)) {
        return folder;
    }
    std::vector<std::string> found;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure);
         !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        if (is_state(entry->path())) {
            found.push_back(entry->path().string());
        }
    }
    if (found.size() > 1) {
        std::sort(found.begin(), found.end());
        throw Error(ExitCode::input,
                    {"there is more than one batch", folder,
                     found[0] + " and " + found[1] + " are state folders", "Name one of them"});
    }
    return found.empty() ? folder : found.front();
}

/// The part of its rows that the journal beside an output has as finished.
std::optional<double> finished_part(const ListedDataset& dataset) {
    try {
        const std::string folder = journal_folder(dataset.output);
        const std::optional<JournalIdentity> identity = read_identity(folder);
        if (!identity || dataset.rows == 0) {
            return std::nullopt;
        }
        std::int64_t rows = 0;
        for (const RowHash& run : read_journal(folder, identity->attempt, dataset.rows).rows) {
            rows += run.rows;
        }
        return static_cast<double>(rows) / static_cast<double>(dataset.rows);
    } catch (const Error&) { // it is being written, or just went
        return std::nullopt;
    }
}

/// Why a dataset that was done is so no more; empty where it is.
std::string change_since(const ListedDataset& dataset, const DatasetEvent& event) {
    const FileMark output = mark_of_output(dataset.output);
    if (output.bytes < 0) {
        return "its output is gone";
    }
    if (output != event.output) {
        return "its output has changed";
    }
    const FileMark input = mark_of_input(dataset.input);
    if (input.bytes >= 0 && input != event.input) {
        return "its input has changed";
    }
    if (const std::string file = first_changed(event.files); !file.empty()) {
        return "its input has changed: " + file;
    }
    return dataset.key == event.key ? "" : "the job has changed";
}

DatasetStatus status_of(ListedDataset dataset, const DatasetEvent* event) {
    DatasetStatus status;
    status.dataset = std::move(dataset);
    if (event == nullptr) {
        return status;
    }
    switch (event->what) {
    case DatasetEvent::What::done:
        status.why = change_since(status.dataset, *event);
        status.is = status.why.empty() ? Is::done : Is::stale;
        return status;
    case DatasetEvent::What::failed:
        status.is = Is::failed;
        status.why = event->reason;
        return status;
    case DatasetEvent::What::started:
        if (const auto owner = lock_owner(lock_path(status.dataset.output))) {
            status.is = Is::running;
            status.why = *owner;
            break;
        }
        [[fallthrough]];
    case DatasetEvent::What::stopped: status.is = Is::stopped; break;
    }
    status.fraction = finished_part(status.dataset);
    return status;
}

/// From how much the processes that are running now have done since they began.
std::optional<double> seconds_left(const Status& status, const History& history) {
    std::set<std::string> running;
    double left = 0;
    for (const DatasetStatus& each : status.datasets) {
        const auto bytes = static_cast<double>(each.dataset.bytes);
        if (each.is == Is::running) {
            running.insert(history.last.at(each.dataset.output).log);
        }
        if (each.is == Is::running || each.is == Is::waiting || each.is == Is::stopped) {
            left += bytes * (1 - each.fraction.value_or(0));
        }
    }
    double done = 0;
    double begun = 0;
    for (const DatasetStatus& each : status.datasets) {
        const auto event = history.last.find(each.dataset.output);
        if (event == history.last.end() || !running.contains(event->second.log)) {
            continue;
        }
        const double since = history.begun.at(event->second.log);
        begun = begun == 0 ? since : std::min(begun, since);
        const auto bytes = static_cast<double>(each.dataset.bytes);
        done += each.is == Is::done ? bytes : bytes * each.fraction.value_or(0);
    }
    const double now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    if (running.empty() || done <= 0 || now <= begun) {
        return std::nullopt;
    }
    return left * (now - begun) / done;
}

std::string percent_text(double fraction) {
    std::array<char, 16> text{};
    (void)std::snprintf(text.data(), text.size(), "%.0f %%", 100 * fraction);
    return text.data();
}

std::string line_of(const DatasetStatus& each) {
    std::string word = word_of(each.is);
    word.resize(9, ' ');
    return "  " + word + printable(each.dataset.output) +
           (each.fraction ? "  " + percent_text(*each.fraction) : "") +
           (each.why.empty() ? "" : "  (" + printable(each.why) + ")") + "\n";
}

} // namespace

const char* word_of(Is is) { return words.at(static_cast<std::size_t>(is)); }

std::int64_t Status::count(Is is) const {
    return std::count_if(datasets.begin(), datasets.end(),
                         [&](const DatasetStatus& each) { return each.is == is; });
}

bool Status::is_over() const {
    return count(Is::running) + count(Is::stopped) + count(Is::waiting) == 0;
}

Status read_status(const std::string& folder) {
    Status status;
    status.folder = find_state(folder);
    DatasetList list = read_list(status.folder);
    const History history = read_history(status.folder);
    status.name = list.name;
    status.datasets.reserve(list.datasets.size());
    for (ListedDataset& dataset : list.datasets) {
        const auto event = history.last.find(dataset.output);
        status.datasets.push_back(
            status_of(std::move(dataset), event == history.last.end() ? nullptr : &event->second));
    }
    status.seconds_left = seconds_left(status, history);
    return status;
}

std::string status_text(const Status& status, Listing listing) {
    constexpr int most_lines_told = 20;
    std::string text = fmt::format("{}: {}{}", printable(status.name), status.datasets.size(),
                                   (status.datasets.size() == 1 ? " dataset" : " datasets"));
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::int64_t count = status.count(static_cast<Is>(i));
        text += count == 0 ? "" : fmt::format(", {} {}", count, words.at(i));
    }
    text +=
        (status.seconds_left ? ", " + duration_text(*status.seconds_left) + " left" : "") + "\n";
    if (listing == Listing::all) {
        for (const DatasetStatus& each : status.datasets) {
            text += line_of(each);
        }
        return text;
    }
    for (const Is is : {Is::running, Is::stopped, Is::stale, Is::failed}) {
        int told = 0;
        for (const DatasetStatus& each : status.datasets) {
            if (each.is == is && ++told <= most_lines_told) {
                text += line_of(each);
            }
        }
        if (told > most_lines_told) {
            text += fmt::format("  and {} more {} (--all lists them)\n", told - most_lines_told,
                                word_of(is));
        }
    }
    return text;
}

std::string status_json(const Status& status) {
    Json datasets = Json::array();
    for (const DatasetStatus& each : status.datasets) {
        Json one = {{"bytes", each.dataset.bytes}};
        if (each.fraction) {
            one["fraction"] = *each.fraction;
        }
        one["input"] = each.dataset.input;
        one["output"] = each.dataset.output;
        one["status"] = word_of(each.is);
        if (!each.why.empty()) {
            one["why"] = each.why;
        }
        datasets.push_back(std::move(one));
    }
    Json counts = Json::object();
    for (const Is is : every_status) {
        counts[word_of(is)] = status.count(is);
    }
    Json all = {
        {"counts", std::move(counts)}, {"datasets", std::move(datasets)}, {"name", status.name}};
    if (status.seconds_left) {
        all["seconds_left"] = *status.seconds_left;
    }
    all["state"] = status.folder;
    return all.lines(1);
}

} // namespace runner::batch
