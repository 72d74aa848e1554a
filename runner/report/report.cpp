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

namespace runner {
namespace {

/// The chunk of the rank that had to halve its chunks most; the plan's where none had to.
std::int64_t least_chunk_rows(const RunReport& report) {
    std::int64_t least = report.plan.chunk_rows();
    for (const RankReport& rank : report.ranks) {
        least = std::min(least, rank.times.chunk_rows);
    }
    return least;
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
                 {"plan", plan_value(report.plan)},
                 {"start_seconds", report.start_seconds},
                 {"wall_seconds", report.wall_seconds},
                 {"finish_seconds", report.finish_seconds},
                 {"phases", phases_value(report.phases)},
                 {"bottleneck", stage_names[static_cast<std::size_t>(bottleneck.stage)]},
                 {"overlap_efficiency", bottleneck.overlap_efficiency},
                 {"warnings", report.warnings},
                 {"notes", report.notes},
                 {"ranks", std::move(ranks)}};
    if (report.survey_seconds > 0) {
        json["survey_seconds"] = report.survey_seconds;
    }
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
