// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/run_summary.hpp"

#include "runner/page/page_shell.hpp"
#include "runner/page/report_check.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

template <class T> T at_or(const Json& value, const char* key, T otherwise) {
    const auto found = value.find(key);
    return found == value.end() ? otherwise : found->get<T>();
}

/// What stands under `key` in each of the ranks, once each.
std::string names_text(const Json& ranks, const char* key) {
    constexpr std::size_t most_listed = 3;
    std::vector<std::string> names;
    for (const Json& rank : ranks) {
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
    return listed == names.size()
               ? text
               : text + " and " + std::to_string(names.size() - listed) + " more";
}

void add_rank(const Json& rank, RunSummary& run) {
    run.stream_seconds = std::max(run.stream_seconds, rank.at("stream_seconds").get<double>());
    for (std::size_t i = 0; i < stage_count; ++i) {
        const auto stage = rank.at("stages").find(std::string(stage_names[i]));
        if (stage == rank.at("stages").end()) {
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
    run.device_bytes = std::max(run.device_bytes, at_or(memory, "device_bytes", std::int64_t{0}));
    run.host_bytes =
        std::max(run.host_bytes, at_or(memory, "resident_peak_bytes", std::int64_t{0}) -
                                     at_or(memory, "resident_before_bytes", std::int64_t{0}));
    if (const auto evolution = rank.find("evolution"); evolution != rank.end()) {
        run.generations =
            std::max(run.generations, at_or(*evolution, "generations", std::int64_t{0}));
    }
}

RunSummary read_summary(const Json& report) {
    RunSummary run;
    const Json& job = report.at("job");
    const Json& ranks = report.at("ranks");
    const Json& plan = report.at("plan");
    run.name = job.at("name");
    run.kind = job.at("kind");
    run.settings = at_or(job, "settings", std::vector<std::string>());
    run.version = at_or(report.at("runner"), "version", std::string());
    run.backend = at_or(plan, "backend", std::string());
    run.started = at_or(report, "started", std::string());
    run.hosts = names_text(ranks, "host");
    run.devices = names_text(ranks, "device");
    run.ranks = static_cast<int>(ranks.size());
    run.chunk_rows = at_or(ranks.at(0), "chunk_rows", std::int64_t{0});
    run.lanes = at_or(ranks.at(0), "lanes", 0);
    run.io_threads = at_or(plan, "io_threads", 0);
    run.wall_seconds = report.at("wall_seconds");
    run.start_seconds = at_or(report, "start_seconds", 0.0);
    run.finish_seconds = at_or(report, "finish_seconds", 0.0);
    run.bottleneck = at_or(report, "bottleneck", std::string());
    run.overlap_efficiency = at_or(report, "overlap_efficiency", 0.0);
    for (const Json& rank : ranks) {
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
    } catch (const Json::exception&) {
        throw no_report_in(file, text);
    }
}

std::string runs_json(std::span<const RunSummary> runs) {
    Json all = Json::array();
    for (const RunSummary& run : runs) {
        all.push_back(value_of(run));
    }
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string runs_page(std::span<const RunSummary> runs) {
    return page_html(std::array{PageData{"runs", runs_json(runs)}});
}

} // namespace runner
