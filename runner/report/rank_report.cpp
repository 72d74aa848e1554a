// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report.hpp"
#include "runner/report/report_values.hpp"

#include <algorithm>
#include <cmath>

namespace runner {
namespace {

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

} // namespace

Json stages_value(const std::array<StageTimes, stage_count>& stages) {
    Json value = Json::object();
    for (std::size_t i = 0; i < stage_count; ++i) {
        const StageTimes& stage = stages.at(i);
        value[std::string(stage_names.at(i))] = {{"busy_seconds", stage.busy_seconds},
                                                 {"wait_seconds", stage.wait_seconds},
                                                 {"bytes", stage.bytes}};
    }
    return value;
}

Json timeline_value(const std::vector<Bar>& all, double merged_below_seconds) {
    Json bars = Json::array();
    for (const Bar& bar : all) {
        bars.push_back({{"lane", bar.lane},
                        {"stage", stage_names[static_cast<std::size_t>(bar.stage)]},
                        {"start", rounded(bar.start)},
                        {"end", rounded(bar.end)},
                        {"busy", rounded(bar.busy)},
                        {"events", bar.events},
                        {"bytes", bar.bytes},
                        {"first", bar.first}});
    }
    return {{"merged_below_seconds", merged_below_seconds}, {"bars", std::move(bars)}};
}

std::size_t timeline_bars(int rank, int ranks) {
    constexpr int most_ranks = 16;
    constexpr std::size_t most_bars = 3200;
    const int step = (ranks + most_ranks - 1) / most_ranks;
    const auto shown = static_cast<std::size_t>((ranks + step - 1) / step);
    return rank % step == 0 ? most_bars / shown : 0;
}

Json rank_value(const RankReport& report) {
    Json value = {{"rank", report.rank},
                  {"host", report.host},
                  {"device", report.device},
                  {"uuid", report.uuid},
                  {"ranks_on_device", report.sharers},
                  {"cores", report.cores},
                  {"rows", Json::array(report.first_row, report.last_row)},
                  {"chunks", report.times.chunks},
                  {"chunk_rows", report.times.chunk_rows},
                  {"lanes", report.times.lanes},
                  {"halvings", halvings_value(report.times)},
                  {"setup_seconds", report.times.setup_seconds},
                  {"stream_seconds", report.times.wall_seconds},
                  {"stages", stages_value(report.times.stages)},
                  {"border",
                   {{"rows_held", report.times.border_rows_held},
                    {"bytes_sent", report.times.border_bytes_sent}}},
                  {"evolution",
                   {{"generations", report.times.generations},
                    {"halo_way", report.times.halo_way},
                    {"state_home", report.times.state_home},
                    {"checkpoints", report.times.checkpoints},
                    {"checkpoint_seconds", report.times.checkpoint_seconds}}},
                  {"memory",
                   {{"device_bytes", report.times.device_bytes},
                    {"resident_before_bytes", report.resident_before},
                    {"resident_peak_bytes", report.resident_peak}}}};
    if (!report.bars.empty()) {
        value["timeline"] = timeline_value(report.bars, report.merged_below_seconds);
    }
    return value;
}

std::string json_text(const Json& value) {
    constexpr std::size_t line = 160;
    return value.lines(2, line);
}

} // namespace runner
