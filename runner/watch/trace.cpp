// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/trace.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "io/files/own_file.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace runner {
namespace {

/// One row of the picture: a stage of a lane, by lane and then by the stage's place in the chain.
using Row = std::pair<int, Stage>;

std::string name_of(Stage stage) {
    return std::string(stage_names[static_cast<std::size_t>(stage)]);
}

Json metadata(const char* what, int rank, int row, Json arguments) {
    return {
        {"args", std::move(arguments)}, {"name", what}, {"ph", "M"}, {"pid", rank}, {"tid", row}};
}

} // namespace

Trace::Trace(std::size_t capacity, std::size_t bars) : capacity_(capacity), timeline_(bars) {
    events_.reserve(capacity);
}

void Trace::add(TraceEvent event) {
    timeline_.add({event.lane, event.stage, event.start, event.end, event.end - event.start, 1,
                   event.bytes, event.name});
    const std::lock_guard lock(mutex_);
    if (events_.size() == capacity_) {
        ++dropped_;
        return;
    }
    events_.push_back(std::move(event));
}

std::size_t Trace::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

std::string Trace::chrome_events(int number, const std::string& process, double offset) const {
    std::vector<TraceEvent> events;
    {
        const std::lock_guard lock(mutex_);
        events = events_;
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.start < b.start; });
    std::map<Row, int> rows;
    for (const TraceEvent& event : events) {
        rows[{event.lane, event.stage}] = 0;
    }
    std::string text;
    const auto append = [&](const Json& element) {
        text += (text.empty() ? "" : ",\n") + element.text();
    };
    if (!events.empty()) {
        append(metadata("process_name", number, 0, {{"name", process}}));
        append(metadata("process_sort_index", number, 0, {{"sort_index", number}}));
    }
    int next = 0;
    for (auto& [row, identifier] : rows) {
        identifier = next++;
        append(metadata("thread_name", number, identifier,
                        {{"name", fmt::format("lane {} {}", row.first, name_of(row.second))}}));
        append(metadata("thread_sort_index", number, identifier, {{"sort_index", identifier}}));
    }
    for (const TraceEvent& event : events) {
        constexpr double microseconds = 1e6;
        append({{"cat", name_of(event.stage)},
                {"dur", std::max(0.0, event.end - event.start) * microseconds},
                {"name", event.name},
                {"ph", "X"},
                {"pid", number},
                {"tid", rows[{event.lane, event.stage}]},
                {"ts", (event.start + offset) * microseconds}});
    }
    return text;
}

std::string chrome_trace(std::span<const std::string> ranks) {
    std::string events;
    for (const std::string& rank : ranks) {
        events += (events.empty() || rank.empty() ? "" : ",\n") + rank;
    }
    return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + events + "\n]}\n";
}

void write_chrome_trace(const std::string& path, std::span<const std::string> ranks) {
    const std::string text = chrome_trace(ranks);
    replace_file(path, std::as_bytes(std::span(text)));
}

} // namespace runner
