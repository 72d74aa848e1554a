// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/run_summary.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "runner/page/page_shell.hpp"
#include "runner/page/report_check.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

/// What stands under `key` in each of the ranks, once each.
std::string names_text(const Json& ranks, const char* key) {
    constexpr std::size_t most_listed = 3;
    std::vector<std::string> names;
    for (const Json& rank : ranks.values()) {
        const auto name = rank.at(key).get<std::string>();
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    std::string text;
    const std::size_t listed = names.size() <= most_listed ? names.size() : 1;
    for (std::size_t i = 0; i < listed; ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return listed == names.size() ? text
                                  : fmt::format("{} and {} more", text, names.size() - listed);
}

void add_rank(const Json& rank, RunSummary& run) {
    run.stream_seconds = std::max(run.stream_seconds, rank.at("stream_seconds").get<double>());
    for (std::size_t i = 0; i < stage_count; ++i) {
        const Json* const stage = rank.at("stages").find(stage_names[i]);
        if (stage == nullptr) {
            continue;
        }
        run.busy_seconds[i] =
            std::max(run.busy_seconds[i], stage->at("busy_seconds").get<double>());
        const auto kind = static_cast<Stage>(i);
        if (kind == Stage::read || kind == Stage::write) {
            run.bytes += stage->at("bytes").get<std::int64_t>();
        }
    }
    const Json& memory = rank.at("memory");
    run.device_bytes = std::max(run.device_bytes, memory.value("device_bytes", std::int64_t{0}));
    run.host_bytes =
        std::max(run.host_bytes, memory.value("resident_peak_bytes", std::int64_t{0}) -
                                     memory.value("resident_before_bytes", std::int64_t{0}));
    if (const Json* const evolution = rank.find("evolution")) {
        run.generations =
            std::max(run.generations, evolution->value("generations", std::int64_t{0}));
    }
}

std::vector<std::string> settings_of(const Json& job) {
    std::vector<std::string> settings;
    if (const Json* const list = job.find("settings")) {
        if (!list->is_array()) {
            throw JsonError("the settings are not an array");
        }
        for (const Json& setting : list->values()) {
            settings.push_back(setting.get<std::string>());
        }
    }
    return settings;
}

RunSummary read_summary(const Json& report) {
    RunSummary run;
    const Json& job = report.at("job");
    const Json& ranks = report.at("ranks");
    const Json& plan = report.at("plan");
    run.name = job.at("name").get<std::string>();
    run.kind = job.at("kind").get<std::string>();
    run.settings = settings_of(job);
    run.version = report.at("runner").value("version", std::string());
    run.backend = plan.value("backend", std::string());
    run.started = report.value("started", std::string());
    run.hosts = names_text(ranks, "host");
    run.devices = names_text(ranks, "device");
    run.ranks = static_cast<int>(ranks.values().size());
    run.chunk_rows = ranks.at(0).value("chunk_rows", std::int64_t{0});
    run.lanes = ranks.at(0).value("lanes", 0);
    run.io_threads = plan.value("io_threads", 0);
    run.wall_seconds = report.at("wall_seconds").get<double>();
    run.start_seconds = report.value("start_seconds", 0.0);
    run.finish_seconds = report.value("finish_seconds", 0.0);
    run.bottleneck = report.value("bottleneck", std::string());
    run.overlap_efficiency = report.value("overlap_efficiency", 0.0);
    for (const Json& rank : ranks.values()) {
        add_rank(rank, run);
    }
    return run;
}

Json value_of(const RunSummary& run) {
    Json busy = Json::object();
    for (std::size_t i = 0; i < stage_count; ++i) {
        busy[std::string(stage_names[i])] = run.busy_seconds[i];
    }
    return {{"file", run.file},
            {"name", run.name},
            {"kind", run.kind},
            {"version", run.version},
            {"backend", run.backend},
            {"started", run.started},
            {"hosts", run.hosts},
            {"devices", run.devices},
            {"settings", run.settings},
            {"ranks", run.ranks},
            {"chunk_rows", run.chunk_rows},
            {"lanes", run.lanes},
            {"io_threads", run.io_threads},
            {"wall_seconds", run.wall_seconds},
            {"start_seconds", run.start_seconds},
            {"stream_seconds", run.stream_seconds},
            {"finish_seconds", run.finish_seconds},
            {"bytes", run.bytes},
            {"generations", run.generations},
            {"bottleneck", run.bottleneck},
            {"overlap_efficiency", run.overlap_efficiency},
            {"busy_seconds", std::move(busy)},
            {"host_bytes", run.host_bytes},
            {"device_bytes", run.device_bytes}};
}

} // namespace

RunSummary summarise_report(const std::string& file, const std::string& text) {
    try {
        RunSummary run = read_summary(Json::parse(text));
        run.file = file;
        return run;
    } catch (const JsonError&) {
        throw no_report_in(file, text);
    }
}

std::string runs_json(std::span<const RunSummary> runs) {
    Json all = Json::array();
    for (const RunSummary& run : runs) {
        all.push_back(value_of(run));
    }
    return all.lines(2);
}

std::string runs_page(std::span<const RunSummary> runs) {
    return page_html(std::array{PageData{"runs", runs_json(runs)}});
}

} // namespace runner
