// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/hash.hpp"
#include "io/hdf5/attributes.hpp"
#include "kernels/vectors/vector_target.hpp"
#include "runner/report/job_counts.hpp"
#include "runner/report/report_values.hpp"
#include "runner/report/version.hpp"

#include <algorithm>
#include <span>
#include <variant>

namespace runner {
namespace {

Json memory_json(const JobPlan& plan) {
    return {{"staging_bytes", plan.need.staging},         {"border_bytes", plan.need.border},
            {"storage_bytes", plan.need.storage},         {"images_bytes", plan.need.images},
            {"images_work_bytes", plan.need.images_work}, {"host_bytes", plan.need.host()},
            {"host_limit_bytes", plan.host_memory},       {"device_bytes", plan.need.device},
            {"device_limit_bytes", plan.device_memory}};
}

Json fact_value(const PlanFact& fact) {
    return std::visit([](const auto& value) { return Json(value); }, fact.value);
}

Json value_of(const JobPlan& plan) {
    Json ranks = Json::array();
    for (int rank = 0; rank < plan.rank_count(); ++rank) {
        const RowRange rows = plan.rows_of_rank(rank);
        ranks.push_back({{"rank", rank},
                         {"rows", Json::array(rows.first, rows.last)},
                         {plan.piece_name(), plan.pieces_of_rank(rank)}});
    }
    Json json = Json::object();
    json["backend"] = name_of(plan.backend);
    for (const PlanFact& fact : plan.facts()) {
        json[fact.name] = fact_value(fact);
    }
    json["lanes"] = plan.lanes;
    json["io_threads"] = plan.io_threads;
    for (const PlanFact& fact : plan.io_facts()) {
        json[fact.name] = fact_value(fact);
    }
    json["ranks"] = std::move(ranks);
    json["memory_per_rank"] = memory_json(plan);
    json["bytes_read"] = plan.bytes_to_read();
    json["bytes_written"] = plan.bytes_to_write();
    return json;
}

/// The chunk of the rank that had to halve its chunks most; the plan's where none had to.
std::int64_t least_chunk_rows(const RunReport& report) {
    std::int64_t least = report.plan.chunk_rows();
    for (const RankReport& rank : report.ranks) {
        least = std::min(least, rank.times.chunk_rows);
    }
    return least;
}

Json array_json(const ArrayInfo& array) {
    return {{"dtype", type_text(array)}, {"shape", array.shape}};
}

Json end_json(const PlannedEnd& end) {
    Json json = {{"file", end.file},
                 {"dataset", end.dataset},
                 {"dtype", type_text(end.array)},
                 {"shape", end.array.shape}};
    if (!end.invalid.empty()) {
        json["invalid"] = end.invalid;
    }
    if (!end.levels.empty()) {
        Json levels = Json::array();
        for (const std::vector<std::int64_t>& shape : end.levels) {
            levels.push_back(Json(shape));
        }
        json["levels"] = std::move(levels);
        json["files"] = end.files.value_or(1);
    }
    if (end.files) {
        json["files"] = *end.files;
        json["bytes"] = end.bytes;
    }
    if (end.kept) {
        json["kept"] = {{"flats", std::ssize(end.kept->roles.of(FrameRole::flat))},
                        {"darks", std::ssize(end.kept->roles.of(FrameRole::dark))},
                        {"bytes", end.kept->bytes()},
                        {"shape", end.kept->joined.shape}};
    }
    return json;
}

Json axes_json(const std::vector<AxisWork>& axes) {
    Json json = Json::array();
    for (const AxisWork& each : axes) {
        json.push_back({{"axis", each.axis}, {"work", each.work}});
    }
    return json;
}

Json pass_json(const PlannedPass& pass) {
    Json json = value_of(*pass.plan);
    json["input"] = end_json(pass.ends.from);
    json["outputs"] = Json::array();
    for (const PlannedEnd& end : pass.ends.to) {
        json["outputs"].push_back(end_json(end));
    }
    if (!pass.steps.empty()) {
        json["steps"] = Json::array();
    }
    for (const StepFacts& step : pass.steps) {
        Json each = {{"step", step.label},
                     {"input", array_json(step.input)},
                     {"output", array_json(step.output)},
                     {"halo_rows", step.halo},
                     {"axes", axes_json(step.axes)}};
        if (step.memory) {
            each["lane_bytes"] = step.memory->lane_bytes;
            each["kept_bytes"] = step.memory->kept_bytes;
            each["carried_rows"] = step.memory->carried_rows;
            each["carried_bytes"] = step.memory->carried_bytes;
        }
        json["steps"].push_back(std::move(each));
    }
    if (!pass.axes.empty()) {
        json["axes"] = axes_json(pass.axes);
    }
    if (!pass.found.empty()) {
        json["found"] = pass.found;
    }
    json["reading"] = {{"way", pass.reading.way},
                       {"wanted_bytes", pass.reading.wanted},
                       {"stored_bytes", pass.reading.stored},
                       {"unpacked_bytes", pass.reading.unpacked},
                       {"amplification", pass.reading.amplification()},
                       {"exact", pass.reading.exact},
                       {"advice", pass.advice}};
    if (pass.link) {
        json["link"] = {{"least_seconds", pass.link->seconds},
                        {"device", pass.link->device},
                        {"measured", pass.link->measured}};
    }
    json["disk_needed_bytes"] = pass.disk.needed;
    json["disk_free_bytes"] = pass.disk.free;
    return json;
}

Json phases_value(const std::vector<Phase>& phases) {
    Json list = Json::array();
    for (const Phase& phase : phases) {
        list.push_back({{"phase", phase.name}, {"seconds", phase.seconds}});
    }
    return list;
}

Json levels_value(const std::vector<LevelReport>& levels) {
    Json list = Json::array();
    for (const LevelReport& level : levels) {
        list.push_back({{"shape", level.shape},
                        {"files", level.files},
                        {"chunks", level.chunks},
                        {"bytes", level.bytes},
                        {"seconds", level.seconds}});
    }
    return list;
}

Json counts_json(const std::vector<JobCount>& counts) {
    Json json = Json::object();
    for (const auto& [name, value] : counts) {
        json[name] = value;
    }
    return json;
}

Json timelines_value(const std::vector<RankTimeline>& timelines) {
    Json list = Json::array();
    for (const RankTimeline& timeline : timelines) {
        Json value = timeline_value(timeline.bars, timeline.merged_below_seconds);
        value["rank"] = timeline.rank;
        list.push_back(std::move(value));
    }
    return list;
}

Json passes_json(const std::vector<PassReport>& passes) {
    Json json = Json::array();
    for (const PassReport& pass : passes) {
        Json steps = Json::array();
        for (const StepReport& step : pass.steps) {
            steps.push_back(
                {{"step", step.label}, {"seconds", step.seconds}, {"bytes", step.bytes}});
        }
        Json value = {{"pass", static_cast<std::int64_t>(pass.number)},
                      {"output", {{"file", pass.file}, {"dataset", pass.dataset}}},
                      {"start_seconds", pass.start_seconds},
                      {"stream_seconds", pass.stream_seconds},
                      {"bytes_read", pass.bytes_read},
                      {"bytes_written", pass.bytes_written},
                      {"bottleneck", stage_names[static_cast<std::size_t>(pass.bottleneck.stage)]},
                      {"overlap_efficiency", pass.bottleneck.overlap_efficiency},
                      {"stages", stages_value(pass.stages)},
                      {"steps", std::move(steps)}};
        if (&pass != &passes.back()) { // whose timelines are those of the ranks
            value["timelines"] = timelines_value(pass.timelines);
        }
        json.push_back(std::move(value));
    }
    return json;
}

/// The verdict of the pass, or of that of several which took longest, and the step that took
/// longest of all passes.
std::string whole_verdict(const RunReport& report) {
    const bool has_several = report.passes.size() > 1;
    std::string text =
        has_several ? verdict_text(report.passes, report.wall_seconds)
                    : verdict_text(report.ranks, report.wall_seconds - report.seconds_before);
    const StepReport* const step = bounding_step(report.passes);
    if (step == nullptr) {
        return text;
    }
    const auto pass =
        std::find_if(report.passes.begin(), report.passes.end(), [&](const PassReport& each) {
            return step >= each.steps.data() && step < each.steps.data() + each.steps.size();
        });
    return text + fmt::format(" Of the steps, {}{} took longest: {:.3g} s.", step->label,
                              has_several ? fmt::format(" in pass {}", pass->number) : "",
                              step->seconds);
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
    build["vectors"] = vectors_in_use();
    Json ranks = Json::array();
    for (const RankReport& rank : report.ranks) {
        ranks.push_back(rank_value(rank));
    }
    const JobFile& job = report.job;
    const ArrayInfo& output = report.plan.output();
    Json json = {{"job",
                  {{"file", job.path},
                   {"name", job.name},
                   {"kind", job.kind},
                   {"text", job.text},
                   {"settings", report.settings},
                   {"folder", report.folder}}},
                 {"runner", std::move(build)},
                 {"verdict", whole_verdict(report)},
                 {"started", report.started},
                 {"launcher", report.launcher},
                 {"runs", report.runs},
                 {"rows_before", report.rows_before},
                 {"counts", counts_json(report.counts)},
                 {"input",
                  {{"file", report.origin ? report.origin->file : job.input.file},
                   {"dataset", report.origin ? report.origin->dataset : job.input.dataset},
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
                 {"phases", phases_value(report.phases)},
                 {"bottleneck", stage_names[static_cast<std::size_t>(bottleneck.stage)]},
                 {"overlap_efficiency", bottleneck.overlap_efficiency},
                 {"warnings", report.warnings},
                 {"notes", report.notes},
                 {"ranks", std::move(ranks)}};
    if (!report.levels.empty()) {
        json["levels"] = levels_value(report.levels);
    }
    if (report.plan.backend == Backend::cuda) {
        json["kernels"] = kernels_value(report.ranks);
        json["device_rates"] = rates_value(report.ranks);
    }
    if (const StepReport* const step = bounding_step(report.passes)) {
        json["passes"] = passes_json(report.passes);
        json["bounding_step"] = step->label;
    }
    return json_text(json);
}

std::string plan_json(const std::vector<PlannedPass>& passes) {
    if (passes.size() == 1) {
        return json_text(pass_json(passes.front()));
    }
    Json json = Json::object();
    json["passes"] = Json::array();
    for (const PlannedPass& pass : passes) {
        Json each = pass_json(pass);
        each["end"] = pass.end;
        json["passes"].push_back(std::move(each));
    }
    return json_text(json);
}

std::string job_checksum(const std::string& text, const std::string& settings) {
    const std::string both = text + '\0' + settings;
    return digest_of(std::as_bytes(std::span(both)));
}

std::vector<Attribute> provenance(const RunReport& report) {
    std::string devices;
    for (const RankReport& rank : report.ranks) {
        devices += (devices.empty() ? "" : ", ") + rank.device;
    }
    std::string settings;
    for (const auto* list : {&report.settings, &report.settled}) {
        for (const std::string& setting : *list) {
            settings += (settings.empty() ? "" : "\n") + setting;
        }
    }
    const JobFile::Input& input = report.job.input;
    std::vector<Attribute> attributes = {
        {"runner_version", version()},
        {"job", report.job.text},
        {"job_settings", settings},
        {job_checksum_attribute, job_checksum(report.job.text, settings)},
        {"kind", report.job.kind},
        {"input_file", report.origin ? report.origin->file : input.file},
        {"input_dataset", report.origin ? report.origin->dataset : input.dataset},
        {"input_bytes", report.input_bytes},
        {"input_modified", report.input_modified},
        {"wall_seconds", report.wall_seconds},
        {"backend", name_of(report.plan.backend)},
        {"devices", devices},
        {"ranks", std::int64_t{report.plan.rank_count()}},
        {"runs", report.runs},
        {"chunk_rows", least_chunk_rows(report)}};
    if (!report.counts.empty()) {
        attributes.emplace_back(counts_attribute, counts_text(report.counts));
    }
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
        text += fmt::format("rank {}  {}  {}", rank.rank, rank.host, rank.device);
        if (!rank.uuid.empty()) {
            text += "  " + rank.uuid;
        }
        if (rank.sharers > 1) {
            text += fmt::format("  shared by {} ranks", rank.sharers);
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
