// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_report.hpp"

#include "base/durations.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/batch/batch_events.hpp"
#include "runner/page/report_numbers.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace runner::batch {
namespace {

/// A time that a dataset took, or the moment of its failure.
struct Span {
    double from = 0;
    double to = 0;
};

/// "log-HOST-PID-START.jsonl" as "HOST, process PID".
std::string process_name(const std::string& log) {
    const std::size_t start = log.rfind('-');
    const std::size_t pid =
        start == std::string::npos || start == 0 ? start : log.rfind('-', start - 1);
    const std::string prefix = "log-";
    if (!log.starts_with(prefix) || pid == std::string::npos || pid < prefix.size()) {
        return log;
    }
    return log.substr(prefix.size(), pid - prefix.size()) + ", process " +
           log.substr(pid + 1, start - pid - 1);
}

/// Seconds that lie in at least one of the spans.
double covered(std::vector<Span> spans) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.from < b.from; });
    double seconds = 0;
    double until = spans.empty() ? 0 : spans.front().from;
    for (const Span& span : spans) {
        seconds += std::max(0.0, span.to - std::max(until, span.from));
        until = std::max(until, span.to);
    }
    return seconds;
}

bool has_ended(const DatasetEvent& event) {
    // What the plan of a batch found done took no time.
    return event.what == DatasetEvent::What::failed ||
           (event.what == DatasetEvent::What::done && event.seconds > 0);
}

/// The event that says when a dataset was made or failed.
const DatasetEvent* ending_of(const History& history, const std::string& output) {
    for (const DatasetEvents* events : {&history.last, &history.last_done}) {
        const auto found = events->find(output);
        if (found != events->end() && has_ended(found->second)) {
            return &found->second;
        }
    }
    return nullptr;
}

/// Numbers of the processes, in order of their begin, by the names of their logs.
std::unordered_map<std::string, std::size_t> number_processes(const History& history,
                                                              Report& report) {
    std::vector<std::pair<double, std::string>> logs;
    for (const auto& [log, begun] : history.begun) {
        logs.emplace_back(begun, log);
    }
    std::sort(logs.begin(), logs.end());
    std::unordered_map<std::string, std::size_t> numbers;
    for (const auto& [begun, log] : logs) {
        numbers[log] = report.processes.size();
        report.processes.push_back(process_name(log));
    }
    report.begun = logs.empty() ? 0 : logs.front().first;
    return numbers;
}

Json dataset_json(const DatasetStatus& status, const std::optional<DatasetTimes>& times) {
    Json one = {{"input", status.dataset.input},
                {"output", status.dataset.output},
                {"status", word_of(status.is)},
                {"bytes", status.dataset.bytes}};
    if (!status.why.empty()) {
        one["why"] = status.why;
    }
    if (status.fraction) {
        one["fraction"] = *status.fraction;
    }
    if (times) {
        one["process"] = times->process;
        one["end"] = times->end;
        if (times->seconds) {
            one["seconds"] = *times->seconds;
        }
        if (times->code != 0) {
            one["code"] = times->code;
        }
    }
    return one;
}

} // namespace

Report read_report(const std::string& folder) {
    Report report;
    report.status = read_status(folder);
    report.kind = read_list(report.status.folder).kind;
    const History history = read_history(report.status.folder);
    const auto numbers = number_processes(history, report);
    std::vector<const DatasetEvent*> endings;
    for (const DatasetStatus& each : report.status.datasets) {
        endings.push_back(ending_of(history, each.dataset.output));
        if (const DatasetEvent* const event = endings.back()) {
            report.begun = std::min(report.begun, event->time - event->seconds);
        }
    }
    std::vector<Span> spans;
    for (std::size_t i = 0; i < endings.size(); ++i) {
        report.times.emplace_back();
        const DatasetEvent* const event = endings[i];
        if (event == nullptr) {
            continue;
        }
        DatasetTimes times{numbers.at(event->log), event->time - report.begun, std::nullopt, 0};
        report.end = std::max(report.end, times.end);
        if (event->what == DatasetEvent::What::done) {
            times.seconds = event->seconds;
            spans.push_back({times.end - event->seconds, times.end});
            report.bytes += report.status.datasets[i].dataset.bytes;
        } else {
            times.code = static_cast<int>(event->code);
        }
        report.times.back() = times;
    }
    report.busy_seconds = covered(std::move(spans));
    return report;
}

std::string report_text(const Report& report) {
    std::string text = status_text(report.status, Listing::some);
    if (report.busy_seconds > 0) {
        text += fmt::format("read and written: {} in {}, {}, by {}\n", size_text(report.bytes),
                            duration_text(report.busy_seconds),
                            rate_text(static_cast<double>(report.bytes) / report.busy_seconds),
                            counted(std::ssize(report.processes), "process", "processes"));
    }
    return text;
}

std::string report_json(const Report& report) {
    Json datasets = Json::array();
    for (std::size_t i = 0; i < report.times.size(); ++i) {
        datasets.push_back(dataset_json(report.status.datasets[i], report.times[i]));
    }
    Json counts = Json::object();
    for (const DatasetStatus::Is is : every_status) {
        counts[word_of(is)] = report.status.count(is);
    }
    Json all = {{"name", report.status.name},    {"kind", report.kind},
                {"state", report.status.folder}, {"begun", report.begun},
                {"end_seconds", report.end},     {"busy_seconds", report.busy_seconds},
                {"bytes", report.bytes},         {"counts", std::move(counts)},
                {"processes", report.processes}, {"datasets", std::move(datasets)}};
    if (report.status.seconds_left) {
        all["seconds_left"] = *report.status.seconds_left;
    }
    return all.lines(1);
}

} // namespace runner::batch
