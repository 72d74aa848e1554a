// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch_state.hpp"

#include "io/row_hashes.hpp"
#include "runner/text_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int format_version = 1;
constexpr const char* list_name = "datasets.jsonl";
constexpr std::array<const char*, 4> event_names = {"started", "done", "failed", "stopped"};

double now_seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string line_of(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// A name for a file that no other process makes.
std::string own_name() {
    static const auto start = std::chrono::system_clock::now().time_since_epoch().count();
    return std::to_string(::getpid()) + "-" + std::to_string(start);
}

json mark_json(const FileMark& mark) { return {mark.bytes, mark.modified}; }

FileMark mark_from(const json& value) {
    return {value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>()};
}

json event_json(const std::string& output, const DatasetEvent& event) {
    json line = {{"event", event_names.at(static_cast<std::size_t>(event.what))},
                 {"output", output},
                 {"time", event.time}};
    if (event.what == DatasetEvent::What::done) {
        line["seconds"] = event.seconds;
        line["key"] = event.key;
        line["identity"] = event.identity;
        line["input_mark"] = mark_json(event.input);
        line["output_mark"] = mark_json(event.output);
    } else if (event.what == DatasetEvent::What::failed) {
        line["code"] = static_cast<int>(event.code);
        line["reason"] = event.reason;
    }
    return line;
}

DatasetEvent event_from(const json& line, DatasetEvent::What what) {
    DatasetEvent event;
    event.what = what;
    event.time = line.at("time").get<double>();
    if (what == DatasetEvent::What::done) {
        event.seconds = line.at("seconds").get<double>();
        event.key = line.at("key").get<std::string>();
        event.identity = line.at("identity").get<std::string>();
        event.input = mark_from(line.at("input_mark"));
        event.output = mark_from(line.at("output_mark"));
    } else if (what == DatasetEvent::What::failed) {
        event.code = static_cast<ExitCode>(line.at("code").get<int>());
        event.reason = line.at("reason").get<std::string>();
    }
    return event;
}

/// Takes one line of a log; what is no event of this version is left out.
void take_line(const std::string& text, const std::string& log, BatchHistory& history) {
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object()) {
        return;
    }
    try {
        const auto name = line.at("event").get<std::string>();
        const double time = line.at("time").get<double>();
        if (const auto [begun, is_new] = history.begun.emplace(log, time); !is_new) {
            begun->second = std::min(begun->second, time);
        }
        for (std::size_t i = 0; i < event_names.size(); ++i) {
            if (name != event_names.at(i)) {
                continue;
            }
            DatasetEvent event = event_from(line, static_cast<DatasetEvent::What>(i));
            event.log = log;
            const auto output = line.at("output").get<std::string>();
            const auto [last, is_new] = history.last.emplace(output, event);
            // Within a log the later line counts, whatever the clock did meanwhile.
            if (!is_new && (last->second.log == log || last->second.time <= event.time)) {
                last->second = std::move(event);
            }
        }
    } catch (const json::exception&) { // another version's
    }
}

void make_folder(const std::string& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) {
        throw Error(ExitCode::output, {"cannot make the folder of the batch's state", folder,
                                       failure.message(), "Set batch.state to another folder"});
    }
}

} // namespace

FileMark mark_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return {};
    }
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    return {status.st_size, status.st_mtim.tv_sec * nanoseconds + status.st_mtim.tv_nsec};
}

void write_list(const std::string& folder, const DatasetList& list) {
    make_folder(folder);
    std::string text = line_of({{"format", format_version},
                                {"name", list.name},
                                {"kind", list.kind},
                                {"datasets", list.datasets.size()}});
    for (const ListedDataset& dataset : list.datasets) {
        text += line_of({{"input", dataset.input},
                         {"output", dataset.output},
                         {"key", dataset.key},
                         {"bytes", dataset.bytes},
                         {"rows", dataset.rows}});
    }
    const fs::path place = fs::path(folder) / list_name;
    const std::string made = place.string() + "." + own_name();
    write_text_file(made, text);
    if (std::rename(made.c_str(), place.c_str()) != 0) {
        throw Error(ExitCode::output, {"cannot write the batch's list", place.string(),
                                       errno_text(errno), "Check its folder and the disk"});
    }
}

DatasetList read_list(const std::string& folder) {
    const std::string path = (fs::path(folder) / list_name).string();
    std::ifstream file(path);
    std::string text;
    if (!file || !std::getline(file, text)) {
        throw Error(ExitCode::input, {"there is no state of a batch", path,
                                      file.is_open() ? "it is empty" : errno_text(errno),
                                      "`runner batch JOB.toml` makes it; the job file's "
                                      "batch.output or batch.state says where"});
    }
    DatasetList list;
    try {
        const json head = json::parse(text);
        list.name = head.at("name").get<std::string>();
        list.kind = head.at("kind").get<std::string>();
        while (std::getline(file, text)) {
            const json line = json::parse(text);
            list.datasets.push_back(
                {line.at("input").get<std::string>(), line.at("output").get<std::string>(),
                 line.at("key").get<std::string>(), line.at("bytes").get<std::int64_t>(),
                 line.at("rows").get<std::int64_t>()});
        }
    } catch (const json::exception& failure) {
        throw Error(ExitCode::input, {"the batch's list is damaged", path, failure.what(),
                                      "Run `runner batch` again: it makes the list anew"});
    }
    return list;
}

BatchHistory read_history(const std::string& folder) {
    BatchHistory history;
    std::error_code failure;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with("log-") || !name.ends_with(".jsonl")) {
            continue;
        }
        std::ifstream file(entry->path());
        for (std::string text; std::getline(file, text);) {
            take_line(text, name, history);
        }
    }
    if (failure && failure != std::errc::no_such_file_or_directory) {
        throw Error(ExitCode::output, {"cannot read the batch's state", folder, failure.message(),
                                       "Check the folder, or set batch.state to another"});
    }
    return history;
}

BatchLog::BatchLog(std::string folder, const std::string& host)
    : path_(
          (fs::path(std::move(folder)) / ("log-" + host + "-" + own_name() + ".jsonl")).string()) {}

BatchLog::~BatchLog() {
    if (descriptor_ >= 0) {
        (void)::close(descriptor_);
    }
}

void BatchLog::add(const std::string& output, DatasetEvent event) {
    event.time = now_seconds();
    const std::string line = line_of(event_json(output, event));
    if (descriptor_ < 0) {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    }
    // One write, so that a reader sees all of it or the beginning, which it passes over.
    const ssize_t written = descriptor_ < 0 ? -1 : ::write(descriptor_, line.data(), line.size());
    if (written != static_cast<ssize_t>(line.size())) {
        throw Error(ExitCode::output,
                    {"cannot write the batch's state", path_,
                     written < 0 ? errno_text(errno) : "the disk took a part only",
                     "Check the folder and the disk"});
    }
}

std::string checksum_text(const std::string& text) {
    std::array<char, 24> digits{};
    (void)std::snprintf(
        digits.data(), digits.size(), "%016llx",
        static_cast<unsigned long long>(hash_bytes(reinterpret_cast<const std::byte*>(text.data()),
                                                   static_cast<std::int64_t>(text.size()))));
    return digits.data();
}

} // namespace runner
