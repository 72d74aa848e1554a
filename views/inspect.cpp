// SPDX-License-Identifier: BSD-3-Clause
#include "views/inspect.hpp"

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/cost/reading_cost.hpp"
#include "io/formats/rows_format.hpp"
#include "io/input/file_access.hpp"
#include "io/inspect/exchange_names.hpp"
#include "views/default_dataset.hpp"
#include "views/frame_angles.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr std::size_t shown_characters = 200;

/// The most bytes of a text in the JSON: a description of an instrument is shorter, and more is no
/// attribute.
constexpr std::size_t longest_text = 64 << 10;

std::string value_text(std::int64_t value) { return std::to_string(value); }

std::string value_text(double value) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return text.str();
}

/// In quotes, line breaks as \n and the middle of a long text left out: the JSON has it all.
std::string value_text(const std::string& value) {
    std::string text = value.substr(0, shown_characters);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
        text.replace(at, 1, "\\n");
    }
    return '"' + printable(text) + '"' +
           (value.size() > shown_characters ? fmt::format(" … ({} bytes)", value.size()) : "");
}

template <class T> std::string value_text(const std::vector<T>& values) {
    std::string text;
    for (const T& value : values) {
        text += (text.empty() ? "" : ", ") + value_text(value);
    }
    return "[" + text + "]";
}

std::string attributes_text(const AttributeList& attributes, const std::string& indent) {
    std::string text;
    for (const auto& [name, value] : attributes) {
        text.append(indent).append("@").append(printable(name)).append(" = ");
        text += std::visit([](const auto& v) { return value_text(v); }, value) + "\n";
    }
    return text;
}

/// Bytes of elements to each stored one, where filters may make that another number than 1.
std::optional<double> ratio_of(const DatasetContent& dataset) {
    return dataset.filters.empty() || dataset.stored_bytes <= 0
               ? std::nullopt
               : std::optional(static_cast<double>(dataset.bytes) /
                               static_cast<double>(dataset.stored_bytes));
}

/// What a job makes of a dataset.
struct Reading {
    std::string way;                       ///< how it is read; that it is not, and why
    FrameRoles roles;                      ///< of its frames
    std::vector<std::string> invalid = {}; ///< as DatasetInfo's
    Axes axes = {};
    ScanSetup setup = {};
    std::optional<FrameAngles> angles = {};
};

/// The roles of the frames of a dataset of a Data Exchange file, which no dataset says.
FrameRoles roles_in_exchange(const DatasetContent& dataset, const Axes& axes) {
    FrameRoles roles;
    const std::optional<FrameRole> role = exchange_role(dataset.path);
    if (role && dataset.shape.size() > 1 && counts_frames(axes)) {
        const std::int64_t frames = dataset.shape.size() > 2 ? dataset.shape.front() : 1;
        roles.frames.assign(static_cast<std::size_t>(frames), *role);
    }
    return roles;
}

/// What a job would make of each dataset. Each takes a process: of a file with very many the first
/// ones alone.
std::vector<Reading> readings_of(FileAccess& files, const FileContent& content,
                                 const ReadMetadata& metadata) {
    constexpr std::size_t most = 256;
    std::vector<Reading> readings(content.datasets.size());
    for (std::size_t i = 0; i < std::min(readings.size(), most); ++i) {
        try {
            DatasetLayout layout = files.layout(content.file, content.datasets[i].path);
            const bool known = layout.roles.known() || !layout.roles.fault.empty();
            readings[i] = {reading_way(layout),
                           known ? std::move(layout.roles)
                                 : roles_in_exchange(content.datasets[i], layout.info.axes),
                           layout.info.invalid, layout.info.axes, layout.setup};
            if (metadata && readings[i].roles.known()) {
                readings[i].angles = frame_angles(metadata(content.datasets[i].path));
            }
        } catch (const Error& error) {
            if (error.code() != ExitCode::input) {
                throw;
            }
            readings[i].way = "by no job: " + error.text().why;
        }
    }
    return readings;
}

/// A line about the frames of a scan; nothing where the file says nothing of them.
std::string roles_text(const FrameRoles& roles) {
    if (!roles.fault.empty()) {
        return "    frames of unknown role: " + printable(roles.fault) + "\n";
    }
    return roles.known() ? "    frames: " + roles.counts_text() +
                               (roles.key.empty() ? "" : " by " + printable(roles.key)) + "\n"
                         : "";
}

Json axes_json(const Axes& axes) {
    Json json = Json::array();
    for (const Axis& axis : axes.each) {
        Json one = Json::object();
        one["name"] = axis.name;
        if (axis.spacing) {
            one["spacing"] = *axis.spacing;
        }
        if (axis.origin) {
            one["origin"] = *axis.origin;
        }
        if (!axis.unit.empty()) {
            one["unit"] = axis.unit;
        }
        for (const ChannelList& list : channel_lists) {
            if (axis.name == "c" && !(axes.*list.list).empty()) {
                one[list.name] = axes.*list.list;
            }
        }
        json.push_back(std::move(one));
    }
    return json;
}

Json angles_json(const FrameAngles& angles) {
    Json json{{"count", angles.count},
              {"first", angles.first},
              {"last", angles.last},
              {"least", angles.least},
              {"greatest", angles.greatest}};
    if (!angles.unit.empty()) {
        json["unit"] = angles.unit;
    }
    return json;
}

Json roles_json(const FrameRoles& roles) {
    Json json = Json::object();
    for (int i = 0; i <= static_cast<int>(last_role); ++i) {
        const auto role = static_cast<FrameRole>(i);
        if (const auto count = std::ssize(roles.of(role)); count > 0) {
            json[std::string(name_of(role))] = count;
        }
    }
    return json;
}

/// Each number of a scan that the file has, with why it is of no use where it is not.
Json setup_json(const ScanSetup& setup) {
    Json json = Json::object();
    for (const auto& [name, number] : setup.all()) {
        if (number->usable()) {
            json[name] = {{"value", number->value}, {"unit", number->unit}, {"path", number->path}};
        } else if (!number->path.empty()) {
            json[name] = {{"path", number->path}, {"of_no_use", number->fault}};
        }
    }
    return json;
}

std::string dataset_text(const DatasetContent& dataset, const Reading& reading) {
    std::string text = printable(dataset.path) + "  " + dataset.type + " " +
                       shape_text(dataset.shape) + "  " + size_text(dataset.bytes) + "\n";
    text += "    " + dataset.storage;
    if (!dataset.chunk.empty()) {
        text += " in " + shape_text(dataset.chunk);
    }
    for (const std::string& filter : dataset.filters) {
        text += ", " + printable(filter);
    }
    text += ", " + size_text(dataset.stored_bytes) + " stored";
    if (const std::optional<double> ratio = ratio_of(dataset)) {
        text += fmt::format(" (ratio {:.2f})", *ratio);
    }
    if (dataset.offset) {
        text += fmt::format(" from byte {}", *dataset.offset);
    }
    text += "\n";
    if (!reading.way.empty()) {
        text += "    read " + printable(reading.way) + "\n";
    }
    if (reading.axes.known()) {
        text += "    axes: " + printable(reading.axes.text()) + "\n";
    }
    text += roles_text(reading.roles);
    if (reading.angles) {
        text += "    angles: " + printable(to_text(*reading.angles)) + "\n";
    }
    if (reading.setup.known()) {
        text += "    scan: " + printable(reading.setup.text()) + "\n";
    }
    for (const std::string& each : reading.invalid) {
        text += "    invalid elements: " + printable(each) + "\n";
    }
    return text + attributes_text(dataset.attributes, "    ");
}

std::string link_text(const LinkContent& link) {
    return printable(link.path) + "  " + link.kind + " to " + printable(link.target) + "  " +
           printable(link.leads_to) + "\n";
}

/// The beginning of a text that is too long, up to a whole character, and what is left out.
std::string shortened(const std::string& text) {
    if (text.size() <= longest_text) {
        return text;
    }
    std::size_t end = longest_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
        --end;
    }
    return text.substr(0, end) +
           fmt::format(" … ({} of {} bytes left out)", text.size() - end, text.size());
}

std::vector<std::string> shortened(std::vector<std::string> texts) {
    for (std::string& text : texts) {
        text = shortened(text);
    }
    return texts;
}

template <class T> const T& shortened(const T& value) { return value; }

Json attributes_json(const AttributeList& attributes) {
    Json json = Json::object();
    for (const auto& [name, value] : attributes) {
        std::visit([&json, &key = name](const auto& v) { json[key] = shortened(v); }, value);
    }
    return json;
}

Json dataset_json(const DatasetContent& dataset, const Reading& reading) {
    Json json;
    json["path"] = dataset.path;
    json["type"] = dataset.type;
    json["shape"] = dataset.shape;
    json["bytes"] = dataset.bytes;
    json["storage"] = dataset.storage;
    json["stored_bytes"] = dataset.stored_bytes;
    if (!dataset.chunk.empty()) {
        json["chunk"] = dataset.chunk;
    }
    json["filters"] = dataset.filters;
    if (const std::optional<double> ratio = ratio_of(dataset)) {
        json["ratio"] = *ratio;
    }
    if (!reading.way.empty()) {
        json["read"] = reading.way;
    }
    if (reading.axes.known()) {
        json["axes"] = axes_json(reading.axes);
        const Json all = Json::parse(to_text(reading.axes));
        for (const char* form : {"sform", "qform"}) {
            if (const Json* const affine = all.find(form)) {
                json[form] = Json::parse(affine->text());
            }
        }
    }
    if (!reading.invalid.empty()) {
        json["invalid"] = reading.invalid;
    }
    if (reading.roles.known()) {
        json["frames"] = roles_json(reading.roles);
        if (!reading.roles.key.empty()) {
            json["image_key"] = reading.roles.key;
        }
    } else if (!reading.roles.fault.empty()) {
        json["frames_unknown"] = reading.roles.fault;
    }
    if (reading.angles) {
        json["angles"] = angles_json(*reading.angles);
    }
    if (reading.setup.known()) {
        json["scan"] = setup_json(reading.setup);
    }
    if (dataset.offset) {
        json["offset"] = *dataset.offset;
    }
    json["attributes"] = attributes_json(dataset.attributes);
    return json;
}

} // namespace

std::string inspect_text(FileAccess& files, const std::string& file, const std::string& dataset,
                         const ReadMetadata& metadata) {
    if (!dataset.empty()) {
        const FileContent content = files.content(file, dataset);
        return dataset_text(content.datasets.front(),
                            readings_of(files, content, metadata).front());
    }
    const FileContent content = files.content(file, "");
    const std::vector<Reading> readings = readings_of(files, content, metadata);
    std::string text =
        printable(file) + "  " + content.format + ", " + size_text(content.bytes) + ", " +
        counted(std::ssize(content.datasets), "dataset") +
        (content.links.empty() ? "" : ", " + counted(std::ssize(content.links), "link")) + "\n" +
        attributes_text(content.attributes, "    ");
    for (std::size_t i = 0; i < readings.size(); ++i) {
        text += dataset_text(content.datasets[i], readings[i]);
    }
    for (const LinkContent& each : content.links) {
        text += link_text(each);
    }
    return text;
}

std::string inspect_json(FileAccess& files, const std::string& file, const std::string& dataset,
                         const ReadMetadata& metadata) {
    if (!dataset.empty()) {
        const FileContent content = files.content(file, dataset);
        return dataset_json(content.datasets.front(), readings_of(files, content, metadata).front())
            .lines(2);
    }
    const FileContent content = files.content(file, "");
    const std::vector<Reading> readings = readings_of(files, content, metadata);
    Json json;
    json["file"] = content.file;
    json["format"] = content.format;
    json["bytes"] = content.bytes;
    json["attributes"] = attributes_json(content.attributes);
    if (const std::optional<std::string> usual = default_dataset(files, file)) {
        json["default"] = *usual;
    }
    json["datasets"] = Json::array();
    for (std::size_t i = 0; i < readings.size(); ++i) {
        json["datasets"].push_back(dataset_json(content.datasets[i], readings[i]));
    }
    json["links"] = Json::array();
    for (const LinkContent& each : content.links) {
        json["links"].push_back({{"path", each.path},
                                 {"kind", each.kind},
                                 {"target", each.target},
                                 {"leads_to", each.leads_to}});
    }
    return json.lines(2);
}

} // namespace runner
