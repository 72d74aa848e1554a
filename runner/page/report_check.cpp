// SPDX-License-Identifier: BSD-3-Clause
#include "runner/page/report_check.hpp"

#include "base/format.hpp"
#include "base/json.hpp"
#include "runner/watch/stages.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace runner {
namespace {

enum class Type { text, number, list, object };

struct Field {
    std::string_view path; ///< keys and indices; `*`: every one; a key ending in `?` may be missing
    Type type;
};

constexpr std::array fields = {
    Field{"job/name", Type::text},
    Field{"job/kind", Type::text},
    Field{"job/file", Type::text},
    Field{"job/text", Type::text},
    Field{"job/folder?", Type::text},
    Field{"job/settings", Type::list},
    Field{"job/settings/*", Type::text},
    Field{"runner", Type::object},
    Field{"runner/*", Type::text},
    Field{"verdict?", Type::text},
    Field{"started?", Type::text},
    Field{"runs?", Type::number},
    Field{"wall_seconds", Type::number},
    Field{"start_seconds", Type::number},
    Field{"finish_seconds", Type::number},
    Field{"survey_seconds?", Type::number},
    Field{"phases?", Type::list},
    Field{"phases?/*/phase", Type::text},
    Field{"phases?/*/seconds", Type::number},
    Field{"levels?", Type::list},
    Field{"levels?/*/shape", Type::list},
    Field{"levels?/*/shape/*", Type::number},
    Field{"levels?/*/files", Type::number},
    Field{"levels?/*/chunks", Type::number},
    Field{"levels?/*/bytes", Type::number},
    Field{"levels?/*/seconds", Type::number},
    Field{"warnings?", Type::list},
    Field{"warnings?/*", Type::text},
    Field{"counts?", Type::object},
    Field{"notes?", Type::list},
    Field{"notes?/*", Type::text},
    Field{"input/file", Type::text},
    Field{"input/dataset", Type::text},
    Field{"input/type", Type::text},
    Field{"input/shape", Type::list},
    Field{"input/shape/*", Type::number},
    Field{"input/storage?", Type::text},
    Field{"input/bytes?", Type::number},
    Field{"input/modified?", Type::text},
    Field{"output/file", Type::text},
    Field{"output/dataset", Type::text},
    Field{"output/type", Type::text},
    Field{"output/shape", Type::list},
    Field{"output/shape/*", Type::number},
    Field{"plan/backend?", Type::text},
    Field{"plan/memory_per_rank/host_bytes", Type::number},
    Field{"plan/memory_per_rank/host_limit_bytes?", Type::number},
    Field{"plan/memory_per_rank/device_bytes", Type::number},
    Field{"plan/memory_per_rank/device_limit_bytes?", Type::number},
    Field{"plan/memory_per_rank/staging_bytes?", Type::number},
    Field{"plan/memory_per_rank/border_bytes?", Type::number},
    Field{"plan/memory_per_rank/storage_bytes?", Type::number},
    Field{"plan/memory_per_rank/images_bytes?", Type::number},
    Field{"plan/memory_per_rank/images_work_bytes?", Type::number},
    Field{"passes?/*/pass", Type::number},
    Field{"passes?/*/output/file", Type::text},
    Field{"passes?/*/output/dataset", Type::text},
    Field{"passes?/*/start_seconds?", Type::number},
    Field{"passes?/*/stream_seconds", Type::number},
    Field{"passes?/*/bytes_read", Type::number},
    Field{"passes?/*/bytes_written", Type::number},
    Field{"passes?/*/bottleneck", Type::text},
    Field{"passes?/*/overlap_efficiency", Type::number},
    Field{"passes?/*/timelines?", Type::list},
    Field{"passes?/*/timelines?/*/rank", Type::number},
    Field{"passes?/*/timelines?/*/merged_below_seconds", Type::number},
    Field{"passes?/*/timelines?/*/bars", Type::list},
    Field{"passes?/*/timelines?/*/bars/*/lane", Type::number},
    Field{"passes?/*/timelines?/*/bars/*/stage", Type::text},
    Field{"passes?/*/timelines?/*/bars/*/start", Type::number},
    Field{"passes?/*/timelines?/*/bars/*/end", Type::number},
    Field{"passes?/*/timelines?/*/bars/*/busy", Type::number},
    Field{"passes?/*/timelines?/*/bars/*/events", Type::number},
    Field{"passes?/*/timelines?/*/bars/*/bytes", Type::number},
    Field{"passes?/*/timelines?/*/bars/*/first", Type::text},
    Field{"passes?/*/steps", Type::list},
    Field{"passes?/*/steps/*/step", Type::text},
    Field{"passes?/*/steps/*/seconds", Type::number},
    Field{"passes?/*/steps/*/bytes", Type::number},
    Field{"passes?", Type::list},
    Field{"bounding_step?", Type::text},
    Field{"kernels?", Type::list},
    Field{"kernels?/*/uuid", Type::text},
    Field{"kernels?/*/name", Type::text},
    Field{"kernels?/*/launches", Type::number},
    Field{"kernels?/*/seconds", Type::number},
    Field{"kernels?/*/grid", Type::list},
    Field{"kernels?/*/grid/*", Type::number},
    Field{"kernels?/*/block", Type::list},
    Field{"kernels?/*/block/*", Type::number},
    Field{"kernels?/*/registers", Type::number},
    Field{"kernels?/*/local_bytes", Type::number},
    Field{"kernels?/*/shared_bytes", Type::number},
    Field{"kernels?/*/occupancy", Type::number},
    Field{"kernels?/*/bytes", Type::number},
    Field{"kernels?/*/operations", Type::number},
    Field{"kernels?/*/share?", Type::number},
    Field{"kernels?/*/limit?", Type::text},
    Field{"device_rates?", Type::list},
    Field{"device_rates?/*/uuid", Type::text},
    Field{"device_rates?/*/device", Type::text},
    Field{"device_rates?/*/why_unknown?", Type::text},
    Field{"device_rates?/*/measured?", Type::text},
    Field{"device_rates?/*/copy_bytes?", Type::number},
    Field{"device_rates?/*/float32_multiply_adds?", Type::number},
    Field{"device_rates?/*/float64_multiply_adds?", Type::number},
    Field{"ranks", Type::list},
    Field{"ranks/0/evolution/generations", Type::number},
    Field{"ranks/*/rank", Type::number},
    Field{"ranks/*/host", Type::text},
    Field{"ranks/*/device", Type::text},
    Field{"ranks/*/uuid?", Type::text},
    Field{"ranks/*/ranks_on_device", Type::number},
    Field{"ranks/*/cores?", Type::text},
    Field{"ranks/*/rows", Type::list},
    Field{"ranks/*/rows/0", Type::number},
    Field{"ranks/*/rows/1", Type::number},
    Field{"ranks/*/chunks", Type::number},
    Field{"ranks/*/lanes", Type::number},
    Field{"ranks/*/stream_seconds", Type::number},
    Field{"ranks/*/memory/resident_before_bytes", Type::number},
    Field{"ranks/*/memory/resident_peak_bytes", Type::number},
    Field{"ranks/*/memory/device_bytes?", Type::number},
    Field{"ranks/*/halvings", Type::list},
    Field{"ranks/*/halvings/*/reason", Type::text},
    Field{"ranks/*/halvings/*/chunk_rows", Type::number},
    Field{"ranks/*/halvings/*/lanes", Type::number},
    Field{"ranks/*/timeline?/merged_below_seconds", Type::number},
    Field{"ranks/*/timeline?/bars", Type::list},
    Field{"ranks/*/timeline?/bars/*/lane", Type::number},
    Field{"ranks/*/timeline?/bars/*/stage", Type::text},
    Field{"ranks/*/timeline?/bars/*/start", Type::number},
    Field{"ranks/*/timeline?/bars/*/end", Type::number},
    Field{"ranks/*/timeline?/bars/*/busy", Type::number},
    Field{"ranks/*/timeline?/bars/*/events", Type::number},
    Field{"ranks/*/timeline?/bars/*/bytes", Type::number},
    Field{"ranks/*/timeline?/bars/*/first", Type::text},
};

bool is_of(Type type, const Json& value) {
    switch (type) {
    case Type::text: return value.is_string();
    case Type::number: return value.is_number();
    case Type::list: return value.is_array();
    case Type::object: return value.is_object();
    }
    return false;
}

std::string_view name_of(Type type) {
    static constexpr std::array<std::string_view, 4> names = {"a string", "a number", "an array",
                                                              "an object"};
    return names.at(static_cast<std::size_t>(type));
}

/// The value of an object by key, or of an array by index; null: there is none.
const Json* child(const Json& value, std::string_view key) {
    if (value.is_object()) {
        return value.find(key);
    }
    std::size_t index = 0;
    const bool is_index =
        std::from_chars(key.data(), key.data() + key.size(), index).ec == std::errc();
    return value.is_array() && is_index && index < value.values().size() ? &value.at(index)
                                                                         : nullptr;
}

/// Finds what is wrong with the field `path` of `value`, which itself is at `place`; "": nothing.
std::string fault(const Json& value, std::string_view path, Type type, const std::string& place) {
    if (path.empty()) {
        return is_of(type, value) ? "" : place + " is not " + std::string(name_of(type));
    }
    const std::size_t slash = path.find('/');
    std::string_view key = path.substr(0, slash);
    const std::string_view rest =
        slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    const std::string start = place.empty() ? "" : place + "/";
    if (key == "*") {
        std::size_t index = 0;
        for (const Json& element : value.values()) {
            std::string found = fault(element, rest, type, fmt::format("{}{}", start, index));
            if (!found.empty()) {
                return found;
            }
            ++index;
        }
        return "";
    }
    const bool is_optional = key.ends_with('?');
    key.remove_suffix(is_optional ? 1 : 0);
    const Json* const found = child(value, key);
    if (found == nullptr) {
        return is_optional ? "" : start + std::string(key) + " is missing";
    }
    return fault(*found, rest, type, start + std::string(key));
}

bool is_json(const std::string& text) {
    try {
        (void)Json::parse(text);
        return true;
    } catch (const JsonError&) {
        return false;
    }
}

void require(const std::string& name, const Json& report, std::string_view path, Type type) {
    const std::string why = fault(report, path, type, "");
    if (!why.empty()) {
        throw no_report(name, why);
    }
}

} // namespace

Error no_report(const std::string& name, const std::string& why) {
    return {
        ExitCode::input,
        {"this is no report of runner", name, why,
         "Name a file that --report FILE.json has written, or the folder of a batch's outputs"}};
}

Error no_report_in(const std::string& name, const std::string& text) {
    if (text.starts_with("\x89HDF")) {
        return no_report(name, "it is an HDF5 file");
    }
    return no_report(name,
                     is_json(text) ? "it is JSON without what a report holds" : "it is not JSON");
}

void check_report(const std::string& name, const std::string& report_json) {
    Json report;
    try {
        report = Json::parse(report_json);
    } catch (const JsonError&) {
        throw no_report_in(name, report_json);
    }
    for (const auto& [path, type] : fields) {
        require(name, report, path, type);
    }
    for (const std::string_view stage : stage_names) {
        for (const std::string_view number : {"busy_seconds", "wait_seconds", "bytes"}) {
            const std::string place = "stages/" + std::string(stage) + "/" + std::string(number);
            require(name, report, "ranks/*/" + place, Type::number);
            require(name, report, "passes?/*/stages?" + place.substr(place.find('/')),
                    Type::number);
        }
    }
}

} // namespace runner
