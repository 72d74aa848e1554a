// SPDX-License-Identifier: BSD-3-Clause
#include "runner/report/report.hpp"
#include "runner/report/report_values.hpp"

#include <utility>
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
    Json json = plan_value(*pass.plan);
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

} // namespace

Json plan_value(const JobPlan& plan) {
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

} // namespace runner
