// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_events.hpp"

#include "base/json.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"
#include "io/files/input_rules.hpp"
#include "io/files/own_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> event_names = {"started", "done", "failed", "stopped"};

double now_seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// Above all that are given to events, and not to be counted on from.
constexpr std::int64_t highest_order = std::int64_t{1} << 53;

Json mark_json(const FileMark& mark) { return Json::array(mark.bytes, mark.modified); }

FileMark mark_from(const Json& value) {
    return {value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>()};
}

Json files_json(const FileMarks& files) {
    Json all = Json::array();
    for (const auto& [file, mark] : files) {
        all.push_back(Json::array(file, mark_json(mark)));
    }
    return all;
}

/// None where the line tells of none.
FileMarks files_from(const Json& line) {
    FileMarks files;
    if (const Json* const all = line.find("files")) {
        for (const Json& each : all->values()) {
            files.emplace(each.at(0).get<std::string>(), mark_from(each.at(1)));
        }
    }
    return files;
}

/// 0 where an earlier version wrote the line.
std::int64_t order_from(const Json& line) {
    const auto order = line.value<std::int64_t>("order", 0);
    return order > 0 && order < highest_order ? order : 0;
}

std::string line_of(const std::string& output, const DatasetEvent& event) {
    const bool is_done = event.what == DatasetEvent::What::done;
    const bool is_failed = event.what == DatasetEvent::What::failed;
    Json line;
    if (is_failed) {
        line["code"] = static_cast<int>(event.code);
    }
    line["event"] = event_names.at(static_cast<std::size_t>(event.what));
    if (!event.files.empty()) {
        line["files"] = files_json(event.files);
    }
    if (is_done) {
        line["identity"] = event.identity;
        line["input_mark"] = mark_json(event.input);
        line["key"] = event.key;
    }
    line["order"] = event.order;
    line["output"] = output;
    if (is_done) {
        line["output_mark"] = mark_json(event.output);
        line["seconds"] = event.seconds;
    } else if (is_failed) {
        line["reason"] = event.reason;
    }
    line["time"] = event.time;
    return line.text() + "\n";
}

DatasetEvent event_from(const Json& line, DatasetEvent::What what) {
    DatasetEvent event;
    event.what = what;
    event.time = line.at("time").get<double>();
    event.order = order_from(line);
    if (what == DatasetEvent::What::done) {
        event.seconds = line.at("seconds").get<double>();
        event.key = line.at("key").get<std::string>();
        event.identity = line.at("identity").get<std::string>();
        event.files = files_from(line);
        event.input = mark_from(line.at("input_mark"));
        event.output = mark_from(line.at("output_mark"));
    } else if (what == DatasetEvent::What::failed) {
        event.code = static_cast<ExitCode>(line.at("code").get<int>());
        event.reason = line.at("reason").get<std::string>();
    }
    return event;
}

/// Whether `b`, which is read after `a`, is the later one. Clocks say so only of what earlier
/// versions wrote, which is older than all else. Of two that did not see each other it is the one
/// that was done.
bool is_later(const DatasetEvent& a, const DatasetEvent& b) {
    if (a.log == b.log) {
        return true; // by a later line
    }
    if (a.order != b.order) {
        return a.order < b.order;
    }
    if (a.order == 0) {
        return a.time <= b.time;
    }
    const bool done = b.what == DatasetEvent::What::done;
    return done != (a.what == DatasetEvent::What::done) ? done : a.log < b.log;
}

/// A process that finds an output complete records it as done in 0 s, so the time that the same
/// output took is kept.
void keep_later(DatasetEvents& events, const std::string& output, const DatasetEvent& event) {
    const auto [found, is_new] = events.try_emplace(output, event);
    if (is_new) {
        return;
    }
    DatasetEvent& kept = found->second;
    constexpr auto done = DatasetEvent::What::done;
    const bool same_output = kept.what == done && event.what == done && kept.output == event.output;
    const double longest = std::max(kept.seconds, event.seconds);
    if (is_later(kept, event)) {
        kept = event;
    }
    if (same_output) {
        kept.seconds = longest;
    }
}

/// Takes one line of a log; what is no event of this version is left out. The output it is of.
std::optional<std::string> take_line(std::string_view text, const std::string& log,
                                     History& history) {
    try {
        const Json line = Json::parse(text);
        const auto name = line.at("event").get<std::string>();
        const double time = line.at("time").get<double>();
        if (const auto [begun, is_new] = history.begun.emplace(log, time); !is_new) {
            begun->second = std::min(begun->second, time);
        }
        const auto* const which = std::find(event_names.begin(), event_names.end(), name);
        if (which == event_names.end()) {
            return std::nullopt;
        }
        DatasetEvent event = event_from(
            line, static_cast<DatasetEvent::What>(std::distance(event_names.begin(), which)));
        event.log = log;
        auto output = line.at("output").get<std::string>();
        if (event.what == DatasetEvent::What::done) {
            keep_later(history.last_done, output, event);
        }
        keep_later(history.last, output, event);
        return output;
    } catch (const JsonError&) { // damaged, or another version's
        return std::nullopt;
    }
}

/// The bytes of a log from `from` to the end of its last whole line: the rest may still grow. None
/// of one that cannot be read.
std::string lines_from(const fs::path& path, std::uintmax_t from) {
    std::string text;
    try {
        const File file(path.string(), File::Mode::read);
        const auto begin = static_cast<std::int64_t>(from);
        text.resize(static_cast<std::size_t>(std::max<std::int64_t>(file.size() - begin, 0)));
        file.read(begin, std::ssize(text), reinterpret_cast<std::byte*>(text.data()));
    } catch (const Error&) {
        return "";
    }
    text.resize(text.rfind('\n') + 1); // npos + 1 is 0
    return text;
}

/// Passes on what each log of the folder has more than it had, up to its last whole line.
/// `passed`: the bytes of each that came before; made those that have come now.
/// @throws Error (output) where the folder cannot be read.
void read_logs(const std::string& folder, LogSizes& passed,
               const std::function<void(const std::string& log, std::string_view lines)>& take) {
    std::error_code failure;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with("log-") || !name.ends_with(".jsonl")) {
            continue;
        }
        std::uintmax_t& before = passed[name];
        std::error_code gone;
        check_regular_file(entry->path().string(), "cannot read the batch's state");
        if (const std::uintmax_t bytes = entry->file_size(gone); gone || bytes == before) {
            continue;
        }
        const std::string text = lines_from(entry->path(), before);
        before += text.size();
        take(name, text);
    }
    if (failure && failure != std::errc::no_such_file_or_directory) {
        throw Error(ExitCode::output, {"cannot read the batch's state", folder, failure.message(),
                                       "Check the folder, or set batch.state to another"});
    }
}

/// The order of the last of the lines that says one, which is the highest of its log; else 0.
std::int64_t last_order(std::string_view lines) {
    while (!lines.empty()) {
        lines.remove_suffix(1);                          // the line's end
        const std::size_t begin = lines.rfind('\n') + 1; // npos + 1 is 0
        try {
            if (const std::int64_t order = order_from(Json::parse(lines.substr(begin)))) {
                return order;
            }
        } catch (const JsonError&) { // damaged, or another version's
        }
        lines = lines.substr(0, begin);
    }
    return 0;
}

} // namespace

History read_history(const std::string& folder) { return HistoryReader(folder).history(); }

HistoryReader::HistoryReader(std::string folder) : folder_(std::move(folder)) {
    read_on();
    is_begun_ = true;
}

void HistoryReader::read_on() {
    read_logs(folder_, taken_, [&](const std::string& log, std::string_view lines) {
        for (std::size_t at = 0; at < lines.size();) {
            const std::size_t end = lines.find('\n', at);
            const auto output = take_line(lines.substr(at, end - at), log, history_);
            if (output && is_begun_) {
                new_.insert(*output);
            }
            at = end + 1;
        }
    });
}

const DatasetEvent* HistoryReader::news(const std::string& output) const {
    return new_.contains(output) ? &history_.last.at(output) : nullptr;
}

Log::Log(std::string folder, const std::string& host)
    : folder_(std::move(folder)),
      path_((fs::path(folder_) / ("log-" + host + "-" + own_name() + ".jsonl")).string()) {}

Log::~Log() {
    if (descriptor_ >= 0) {
        (void)::close(descriptor_);
    }
}

void Log::add(const std::string& output, DatasetEvent event) {
    event.time = now_seconds();
    read_logs(folder_, seen_, [&](const std::string& /*log*/, std::string_view lines) {
        order_ = std::max(order_, last_order(lines));
    });
    event.order = ++order_;
    const std::string line = line_of(output, event);
    if (descriptor_ < 0) {
        descriptor_ = open_own_file(path_, O_WRONLY | O_CREAT | O_APPEND);
    }
    // A reader sees all of it or the beginning, which it passes over.
    for (std::string_view rest = line; !rest.empty();) {
        const ssize_t wrote = descriptor_ < 0 ? -1 : uninterrupted([&] {
            return ::write(descriptor_, rest.data(), rest.size());
        });
        if (wrote < 0) {
            throw Error(ExitCode::output, {"cannot write the batch's state", path_,
                                           errno_text(errno), "Check the folder and the disk"});
        }
        rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
}
} // namespace runner::batch
