// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/record_json.hpp"

#include "base/json.hpp"

#include <cstdint>
#include <utility>

namespace runner {
namespace {

constexpr std::string_view program = "runner ";

/// Takes the first line off a text. @throws JsonError where it does not begin with `key`.
std::string_view take_line(std::string_view& text, std::string_view key) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || !text.starts_with(key)) {
        throw JsonError("its lines are not those of a record");
    }
    const std::string_view value = text.substr(key.size(), end - key.size());
    text.remove_prefix(end + 1);
    return value;
}

} // namespace

std::string record_json(std::string_view lines) {
    constexpr std::size_t indent = 2;
    constexpr std::size_t width = 100;
    constexpr std::string_view record_key = "record = ";
    Json json = Json::object();
    json["runner"] = take_line(lines, program);
    json["bytes"] = Json::parse(take_line(lines, "bytes = "));
    json["modified"] = take_line(lines, "modified = ");
    Json identity = Json::array();
    while (!lines.starts_with(record_key)) {
        identity.push_back(take_line(lines, ""));
    }
    json["identity"] = std::move(identity);
    json["record"] = Json::parse(take_line(lines, record_key));
    json["checksum"] = take_line(lines, "checksum = ");
    json["row_hashes"] = Json::parse(take_line(lines, "row_hashes = "));
    return json.lines(indent, width);
}

std::string record_lines(std::string_view text) {
    const Json json = Json::parse(text);
    std::string lines = std::string(program) + json.at("runner").get<std::string>() +
                        "\nbytes = " + std::to_string(json.at("bytes").get<std::int64_t>()) +
                        "\nmodified = " + json.at("modified").get<std::string>() + "\n";
    for (const Json& line : json.at("identity").values()) {
        lines += line.get<std::string>() + "\n";
    }
    return lines + "record = " + json.at("record").text() +
           "\nchecksum = " + json.at("checksum").get<std::string>() +
           "\nrow_hashes = " + json.at("row_hashes").text() + "\n";
}

} // namespace runner
