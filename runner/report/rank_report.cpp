// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report.hpp"
#include "runner/report/report_values.hpp"

#include <algorithm>
#include <cmath>

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

Json stages_value(const RunTimes& times) {
    Json stages = Json::object();
    for (std::size_t i = 0; i < stage_count; ++i) {
        const StageTimes& stage = times.stages[i];
        stages[std::string(stage_names[i])] = {{"busy_seconds", stage.busy_seconds},
                                               {"wait_seconds", stage.wait_seconds},
                                               {"bytes", stage.bytes}};
    }
    return stages;
}

Json halvings_value(const RunTimes& times) {
    Json halvings = Json::array();
    for (const Halving& halving : times.halvings) {
        halvings.push_back({{"reason", halving.reason},
                            {"chunk_rows", halving.chunk_rows},
                            {"lanes", halving.lanes}});
    }
    return halvings;
}

/// To a microsecond: no clock here is finer, and the text stays short.
double rounded(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Json timeline_value(const RankReport& report) {
    Json bars = Json::array();
    for (const Bar& bar : report.bars) {
        bars.push_back({{"lane", bar.lane},
                        {"stage", stage_names[static_cast<std::size_t>(bar.stage)]},
                        {"start", rounded(bar.start)},
                        {"end", rounded(bar.end)},
                        {"busy", rounded(bar.busy)},
                        {"events", bar.events},
                        {"bytes", bar.bytes},
                        {"first", bar.first}});
    }
    return {{"merged_below_seconds", report.merged_below_seconds}, {"bars", std::move(bars)}};
}

std::vector<Bar> bars_of(const Json& timeline) {
    std::vector<Bar> bars;
    for (const Json& bar : timeline.at("bars")) {
        const auto stage = std::find(stage_names.begin(), stage_names.end(),
                                     bar.at("stage").get<std::string_view>());
        bars.push_back({bar.at("lane"), static_cast<Stage>(stage - stage_names.begin()),
                        bar.at("start"), bar.at("end"), bar.at("busy"), bar.at("events"),
                        bar.at("bytes"), bar.at("first")});
    }
    return bars;
}

void append_text(const Json& value, std::size_t indent, std::string& text) {
    constexpr std::size_t line = 160;
    std::string flat = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!value.is_structured() || value.empty() || flat.size() <= line) {
        text += flat;
        return;
    }
    const std::string margin(indent + 2, ' ');
    text += value.is_object() ? '{' : '[';
    bool first = true;
    for (const auto& [key, element] : value.items()) {
        text += (first ? "\n" : ",\n") + margin;
        if (value.is_object()) {
            text += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
        }
        append_text(element, indent + 2, text);
        first = false;
    }
    text += "\n" + std::string(indent, ' ') + (value.is_object() ? '}' : ']');
}

} // namespace

std::size_t timeline_bars(int rank, int ranks) {
    constexpr int most_ranks = 16;
    constexpr std::size_t most_bars = 3200;
    const int step = (ranks + most_ranks - 1) / most_ranks;
    const auto shown = static_cast<std::size_t>((ranks + step - 1) / step);
    return rank % step == 0 ? most_bars / shown : 0;
}

Json rank_value(const RankReport& report) {
    Json value = {
        {"rank", report.rank},
        {"host", report.host},
        {"device", report.device},
        {"uuid", report.uuid},
        {"ranks_on_device", report.sharers},
        {"cores", report.cores},
        {"rows", {report.first_row, report.last_row}},
        {"chunks", report.times.chunks},
        {"chunk_rows", report.times.chunk_rows},
        {"lanes", report.times.lanes},
        {"halvings", halvings_value(report.times)},
        {"setup_seconds", report.times.setup_seconds},
        {"stream_seconds", report.times.wall_seconds},
        {"stages", stages_value(report.times)},
        {"border",
         {{"rows_held", report.border_rows_held}, {"bytes_sent", report.border_bytes_sent}}},
        {"evolution",
         {{"generations", report.times.generations},
          {"halo_way", report.times.halo_way},
          {"checkpoints", report.times.checkpoints},
          {"checkpoint_seconds", report.times.checkpoint_seconds}}},
        {"memory",
         {{"device_bytes", report.times.device_bytes},
          {"resident_before_bytes", report.resident_before},
          {"resident_peak_bytes", report.resident_peak}}}};
    if (!report.bars.empty()) {
        value["timeline"] = timeline_value(report);
    }
    return value;
}

std::string json_text(const Json& value) {
    std::string text;
    append_text(value, 0, text);
    return text + "\n";
}

std::string to_text(const RankReport& report) { return rank_value(report).dump(); }

RankReport rank_report_from_text(const std::string& text) {
    const Json json = Json::parse(text);
    RankReport report;
    report.rank = json["rank"];
    report.host = json["host"];
    report.device = json["device"];
    report.uuid = json["uuid"];
    report.sharers = json["ranks_on_device"];
    report.cores = json["cores"];
    report.first_row = json["rows"][0];
    report.last_row = json["rows"][1];
    report.times.chunks = json["chunks"];
    report.times.chunk_rows = json["chunk_rows"];
    report.times.lanes = json["lanes"];
    for (const Json& halving : json["halvings"]) {
        report.times.halvings.push_back(
            {halving["reason"], halving["chunk_rows"], halving["lanes"]});
    }
    report.times.setup_seconds = json["setup_seconds"];
    report.times.wall_seconds = json["stream_seconds"];
    for (std::size_t i = 0; i < stage_count; ++i) {
        const Json& stage = json["stages"][std::string(stage_names[i])];
        report.times.stages[i] = {stage["busy_seconds"], stage["wait_seconds"], stage["bytes"]};
    }
    const Json& evolution = json["evolution"];
    report.times.generations = evolution["generations"];
    report.times.halo_way = evolution["halo_way"];
    report.times.checkpoints = evolution["checkpoints"];
    report.times.checkpoint_seconds = evolution["checkpoint_seconds"];
    report.border_rows_held = json["border"]["rows_held"];
    report.border_bytes_sent = json["border"]["bytes_sent"];
    report.times.device_bytes = json["memory"]["device_bytes"];
    report.resident_before = json["memory"]["resident_before_bytes"];
    report.resident_peak = json["memory"]["resident_peak_bytes"];
    if (const auto timeline = json.find("timeline"); timeline != json.end()) {
        report.bars = bars_of(*timeline);
        report.merged_below_seconds = timeline->at("merged_below_seconds");
    }
    return report;
}

} // namespace runner
