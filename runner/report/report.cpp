// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report.hpp"

#include "base/counted.hpp"
#include "io/hdf5/write_attributes.hpp"
#include "runner/report/report_values.hpp"
#include "runner/report/version.hpp"

#include <algorithm>
#include <variant>

namespace runner {
namespace {

template <class SomePlan> Json memory_json(const SomePlan& plan) {
    return {{"staging_bytes", plan.need.staging},      {"border_bytes", plan.need.border},
            {"storage_bytes", plan.need.storage},      {"host_bytes", plan.need.host()},
            {"host_limit_bytes", plan.host_memory},    {"device_bytes", plan.need.device},
            {"device_limit_bytes", plan.device_memory}};
}

const char* backend_name(Backend backend) { return backend == Backend::cuda ? "cuda" : "cpu"; }

Json slabs_json(const Decomposition& d) {
    Json ranks = Json::array();
    for (int rank = 0; rank < d.ranks; ++rank) {
        const RowRange slab = d.slab(rank);
        ranks.push_back({{"rank", rank},
                         {"rows", Json::array(slab.first, slab.last)},
                         {"chunks", count_chunks(d, slab)}});
    }
    return ranks;
}

Json plan_value(const Plan& plan) {
    const Decomposition& d = plan.decomposition;
    return {{"backend", backend_name(plan.backend)},
            {"frames", d.frames},
            {"rows_per_frame", d.rows},
            {"halo_rows", d.halo},
            {"chunk_rows", d.chunk_rows},
            {"lanes", plan.lanes},
            {"io_threads", plan.io_threads},
            {"ranks", slabs_json(d)},
            {"memory_per_rank", memory_json(plan)},
            {"bytes_read", plan.bytes_to_read()},
            {"bytes_written", plan.bytes_to_write()}};
}

Json plan_value(const EvolvePlan& plan) {
    const Decomposition& d = plan.decomposition;
    const Snapshots& snapshots = plan.shape.snapshots;
    return {{"backend", backend_name(plan.backend)},
            {"rows", d.rows},
            {"cells", plan.shape.cells},
            {"first_generation", snapshots.first},
            {"generations", snapshots.generations},
            {"snapshots", snapshots.count()},
            {"halo_depth", d.halo},
            {"chunk_rows", d.chunk_rows},
            {"lanes", plan.lanes},
            {"io_threads", plan.io_threads},
            {"ranks", slabs_json(d)},
            {"memory_per_rank", memory_json(plan)},
            {"bytes_read", d.rows * plan.shape.in_row_bytes},
            {"bytes_written", snapshots.count() * d.rows * plan.shape.out_row_bytes}};
}

Json plan_value(const PermutePlan& plan) {
    Json ranks = Json::array();
    for (int rank = 0; rank < plan.ranks; ++rank) {
        const RowRange rows = rows_of(plan, rank);
        ranks.push_back({{"rank", rank},
                         {"rows", Json::array(rows.first, rows.last)},
                         {"boxes", plan.boxes(rank).size()}});
    }
    const BoxGrid& grid = plan.grid;
    const std::int64_t bytes = plan.total_rows() * grid.output()[2] * plan.shape.element_bytes;
    const std::int64_t to_do =
        bytes - count_rows(plan.done) * grid.output()[2] * plan.shape.element_bytes;
    return {{"backend", backend_name(plan.backend)},
            {"boxes", grid.boxes()},
            {"box", Json::array(grid.first, grid.second, grid.output()[2])},
            {"lanes", plan.lanes},
            {"io_threads", plan.io_threads},
            {"reads", bytes / grid.in_run_bytes()},
            {"read_bytes", grid.in_run_bytes()},
            {"writes", bytes / grid.out_run_bytes()},
            {"write_bytes", grid.out_run_bytes()},
            {"ranks", std::move(ranks)},
            {"memory_per_rank", memory_json(plan)},
            {"bytes_read", to_do},
            {"bytes_written", to_do}};
}

Json value_of(const JobPlan& plan) {
    return std::visit([](const auto& some) { return plan_value(some); }, plan);
}

/// Of the rank that had to halve its chunks most; the plan's where none had to.
std::int64_t least_chunk_rows(const RunReport& report) {
    std::int64_t least = chunk_rows_of(report.plan);
    for (const RankReport& rank : report.ranks) {
        least = std::min(least, rank.times.chunk_rows);
    }
    return least;
}

} // namespace

Bottleneck find_bottleneck(const std::vector<RankReport>& ranks) {
    Bottleneck worst;
    for (const RankReport& rank : ranks) {
        for (std::size_t i = 0; i < stage_count; ++i) {
            const double busy = rank.times.stages[i].busy_seconds;
            if (busy > worst.busy_seconds) {
                worst = {static_cast<Stage>(i), busy, busy / rank.times.wall_seconds};
            }
        }
    }
    return worst;
}

std::string report_json(const RunReport& report) {
    const Bottleneck bottleneck = find_bottleneck(report.ranks);
    Json build = Json::object();
    for (const auto& [name, value] : build_facts()) {
        build[name] = value;
    }
    Json ranks = Json::array();
    for (const RankReport& rank : report.ranks) {
        ranks.push_back(rank_value(rank));
    }
    const JobFile& job = report.job;
    const ArrayInfo output =
        std::visit([](const auto& plan) { return plan.shape.output; }, report.plan);
    const Json json = {{"job",
                        {{"file", job.path},
                         {"name", job.name},
                         {"kind", job.kind},
                         {"text", job.text},
                         {"settings", report.settings},
                         {"folder", report.folder}}},
                       {"runner", std::move(build)},
                       {"verdict", verdict_text(report.ranks, report.wall_seconds)},
                       {"started", report.started},
                       {"runs", report.runs},
                       {"rows_before", report.rows_before},
                       {"input",
                        {{"file", job.input.file},
                         {"dataset", job.input.dataset},
                         {"type", type_text(report.input.array)},
                         {"shape", report.input.array.shape},
                         {"storage", report.input.storage},
                         {"bytes", report.input_bytes},
                         {"modified", report.input_modified}}},
                       {"output",
                        {{"file", job.output.file},
                         {"dataset", job.output.dataset},
                         {"type", type_text(output)},
                         {"shape", output.shape}}},
                       {"plan", value_of(report.plan)},
                       {"start_seconds", report.start_seconds},
                       {"wall_seconds", report.wall_seconds},
                       {"finish_seconds", report.finish_seconds},
                       {"bottleneck", stage_names[static_cast<std::size_t>(bottleneck.stage)]},
                       {"overlap_efficiency", bottleneck.overlap_efficiency},
                       {"warnings", report.warnings},
                       {"notes", report.notes},
                       {"ranks", std::move(ranks)}};
    return json_text(json);
}

std::string plan_json(const JobPlan& plan, const DiskSpace& disk, const PlannedEnds& ends) {
    const auto end_json = [](const PlannedEnd& end) {
        return Json{{"file", end.file},
                    {"dataset", end.dataset},
                    {"dtype", type_text(end.array)},
                    {"shape", end.array.shape}};
    };
    Json json = value_of(plan);
    json["input"] = end_json(ends.from);
    json["outputs"] = Json::array();
    for (const PlannedEnd& end : ends.to) {
        json["outputs"].push_back(end_json(end));
    }
    json["disk_needed_bytes"] = disk.needed;
    json["disk_free_bytes"] = disk.free;
    return json_text(json);
}

std::vector<Attribute> provenance(const RunReport& report) {
    std::string devices;
    for (const RankReport& rank : report.ranks) {
        devices += (devices.empty() ? "" : ", ") + rank.device;
    }
    std::string settings;
    for (const std::string& setting : report.settings) {
        settings += (settings.empty() ? "" : "\n") + setting;
    }
    std::vector<Attribute> attributes = {{"runner_version", version()},
                                         {"job", report.job.text},
                                         {"job_settings", settings},
                                         {"kind", report.job.kind},
                                         {"input_file", report.job.input.file},
                                         {"input_dataset", report.job.input.dataset},
                                         {"input_bytes", report.input_bytes},
                                         {"input_modified", report.input_modified},
                                         {"wall_seconds", report.wall_seconds},
                                         {"backend", backend_name(backend_of(report.plan))},
                                         {"devices", devices},
                                         {"ranks", std::int64_t{ranks_of(report.plan)}},
                                         {"runs", report.runs},
                                         {"chunk_rows", least_chunk_rows(report)}};
    for (std::size_t i = 0; i < stage_count; ++i) {
        const std::string name(stage_names[i]);
        double seconds = 0;
        std::int64_t bytes = 0;
        for (const RankReport& rank : report.ranks) {
            seconds = std::max(seconds, rank.times.stages[i].busy_seconds);
            bytes += rank.times.stages[i].bytes;
        }
        attributes.emplace_back(name + "_seconds", seconds);
        attributes.emplace_back(name + "_bytes", bytes);
    }
    return attributes;
}

std::string binding_table(const std::vector<RankReport>& ranks) {
    std::string text;
    for (const RankReport& rank : ranks) {
        text += "rank " + std::to_string(rank.rank) + "  " + rank.host + "  " + rank.device;
        if (!rank.uuid.empty()) {
            text += "  " + rank.uuid;
        }
        if (rank.sharers > 1) {
            text += "  shared by " + std::to_string(rank.sharers) + " ranks";
        }
        text += "  cores " + rank.cores;
        if (rank.times.chunk_rows != ranks.front().times.chunk_rows ||
            rank.times.lanes != ranks.front().times.lanes) {
            text += "  chunks of " + counted(rank.times.chunk_rows, "row") + " in " +
                    counted(rank.times.lanes, "lane") + " by its memory";
        }
        text += "\n";
    }
    return text;
}

} // namespace runner
