// SPDX-License-Identifier: BSD-3-Clause
#include "views/inspect.hpp"

#include "base/array_info.hpp"
#include "base/counted.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "io/input/file_access.hpp"

#include <sstream>

namespace runner {
namespace {

constexpr std::size_t shown_text = 200;

std::string value_text(std::int64_t value) { return std::to_string(value); }

std::string value_text(double value) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return text.str();
}

/// In quotes, line breaks as \n and the middle of a long text left out: the JSON has it all.
std::string value_text(const std::string& value) {
    std::string text = value.substr(0, shown_text);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
        text.replace(at, 1, "\\n");
    }
    return '"' + printable(text) + '"' +
           (value.size() > shown_text ? fmt::format(" … ({} bytes)", value.size()) : "");
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

std::string dataset_text(const DatasetContent& dataset) {
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
    if (dataset.offset) {
        text += fmt::format(" from byte {}", *dataset.offset);
    }
    return text + "\n" + attributes_text(dataset.attributes, "    ");
}

std::string link_text(const LinkContent& link) {
    return printable(link.path) + "  " + link.kind + " to " + printable(link.target) + "  " +
           printable(link.leads_to) + "\n";
}

Json attributes_json(const AttributeList& attributes) {
    Json json = Json::object();
    for (const auto& [name, value] : attributes) {
        std::visit([&json, &key = name](const auto& v) { json[key] = v; }, value);
    }
    return json;
}

Json dataset_json(const DatasetContent& dataset) {
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
    if (dataset.offset) {
        json["offset"] = *dataset.offset;
    }
    json["attributes"] = attributes_json(dataset.attributes);
    return json;
}

} // namespace

std::string inspect_text(FileAccess& files, const std::string& file, const std::string& dataset) {
    if (!dataset.empty()) {
        return dataset_text(files.content(file, dataset).datasets.front());
    }
    const FileContent content = files.content(file, "");
    std::string text =
        printable(file) + "  " + content.format + ", " + size_text(content.bytes) + ", " +
        counted(std::ssize(content.datasets), "dataset") +
        (content.links.empty() ? "" : ", " + counted(std::ssize(content.links), "link")) + "\n" +
        attributes_text(content.attributes, "    ");
    for (const DatasetContent& each : content.datasets) {
        text += dataset_text(each);
    }
    for (const LinkContent& each : content.links) {
        text += link_text(each);
    }
    return text;
}

std::string inspect_json(FileAccess& files, const std::string& file, const std::string& dataset) {
    if (!dataset.empty()) {
        return dataset_json(files.content(file, dataset).datasets.front()).lines(2);
    }
    const FileContent content = files.content(file, "");
    Json json;
    json["file"] = content.file;
    json["format"] = content.format;
    json["bytes"] = content.bytes;
    json["attributes"] = attributes_json(content.attributes);
    json["datasets"] = Json::array();
    for (const DatasetContent& each : content.datasets) {
        json["datasets"].push_back(dataset_json(each));
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
