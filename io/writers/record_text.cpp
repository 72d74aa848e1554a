// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/record_text.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "io/files/hash.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

namespace runner {
namespace {

constexpr std::string_view checksum_key = "checksum = ";
constexpr std::string_view rows_key = "\nrow_hashes = ";
constexpr std::size_t checksum_digits = 32;
constexpr std::size_t hash_digits = 16;

std::string checksum_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

std::string dtype_of(const ArrayInfo& array) {
    return is_float16(array) ? float16_text : std::string(name_of(array.type));
}

RowHash row_hash_of(const Json& entry) {
    const auto text = entry.at(2).get<std::string>();
    RowHash run{entry.at(std::size_t{0}).get<std::int64_t>(), entry.at(1).get<std::int64_t>(), 0};
    const char* const end = text.data() + text.size();
    const auto [rest, wrong] = std::from_chars(text.data(), end, run.hash, 16);
    if (wrong != std::errc() || rest != end || text.size() != hash_digits ||
        text != fmt::format("{:016x}", run.hash)) {
        throw JsonError("\"" + text + "\" is no checksum");
    }
    return run;
}

std::variant<std::string, std::int64_t, double> attribute_of(const Json& value) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    const std::string text = value.text();
    if (text == "null") { // as infinities and NaN are written
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (text.find_first_of(".eE") == std::string::npos) {
        return value.get<std::int64_t>();
    }
    return value.get<double>();
}

ArrayInfo array_of(const Json& json) {
    const auto name = json.at("dtype").get<std::string>();
    const bool halves = name == float16_text;
    const std::optional<ElementType> type = halves ? ElementType::bytes2 : element_type(name);
    if (!type) {
        throw JsonError("there is no type \"" + name + "\"");
    }
    ArrayInfo array{*type, {}, {halves ? float16_text : "", {}}};
    for (const Json& extent : json.at("shape").values()) {
        array.shape.push_back(extent.get<std::int64_t>());
    }
    if (array.shape.empty() || std::any_of(array.shape.begin(), array.shape.end(),
                                           [](std::int64_t extent) { return extent < 1; })) {
        throw JsonError("its shape is " + shape_text(array.shape));
    }
    (void)byte_count(array);
    return array;
}

} // namespace

std::string first_record_line(std::string_view ending, int version) {
    return fmt::format("runner {} output {}\n", ending, version);
}

std::string record_head(std::string_view ending, const FileMark& mark, int version) {
    return fmt::format("{}bytes = {}\nmodified = {} ns\n", first_record_line(ending, version),
                       mark.bytes, mark.modified);
}

bool has_record_head(std::string_view ending, std::string_view text) {
    const std::array<std::string, 4> words = {fmt::format("runner {} output ", ending),
                                              "\nbytes = ", "\nmodified = ", " ns\n"};
    for (const std::string& word : words) {
        if (!text.starts_with(word)) {
            return false;
        }
        text.remove_prefix(word.size());
        text.remove_prefix(std::min(text.find_first_not_of("-0123456789"), text.size()));
    }
    return true;
}

std::optional<std::string_view> sealed_rows(std::string_view text) {
    const std::size_t end = text.find('\n', text.find(record_key) + 1); // of the line
    const std::size_t rows_at = end + 1 + checksum_key.size() + checksum_digits;
    if (end == std::string_view::npos || rows_at > text.size() ||
        text.substr(end + 1, rows_at - end - 1) !=
            std::string(checksum_key) + checksum_of(text.substr(0, end + 1)) ||
        !text.substr(rows_at).starts_with(rows_key)) {
        return std::nullopt;
    }
    return text.substr(rows_at + rows_key.size());
}

std::string record_text(std::string_view ending, const FileMark& mark, const BesideRecord& record) {
    Json attributes = Json::array();
    for (const auto& [name, value] : record.attributes) {
        attributes.push_back(
            Json::array(name, std::visit([](const auto& held) { return Json(held); }, value)));
    }
    Json rows = Json::array();
    for (const RowHash& run : record.rows) {
        rows.push_back(Json::array(run.first, run.rows, fmt::format("{:016x}", run.hash)));
    }
    const Json json{
        {"array", Json{{"dtype", dtype_of(record.array)}, {"shape", record.array.shape}}},
        {"attributes", std::move(attributes)},
        {"row_hashes_checksum", record.rows_checksum.value_or(digest_of_rows(record.rows))}};
    std::string text = record_head(ending, mark, latest_record) + record.identity;
    if (text.ends_with('\n')) {
        text.pop_back();
    }
    text += std::string(record_key) + json.text() + "\n";
    text += std::string(checksum_key) + checksum_of(text);
    return text + std::string(rows_key) + rows.text() + "\n";
}

BesideRecord parse_record(const std::string& text, std::size_t identity_at, int version) {
    const std::size_t end = text.find(record_key);
    if (end == std::string::npos) {
        throw JsonError("it ends before the checksums");
    }
    const std::optional<std::string_view> list =
        version == latest_record ? sealed_rows(text) : std::optional<std::string_view>();
    if (version == latest_record && !list) {
        throw JsonError("it does not match its checksum");
    }
    const std::size_t json_at = end + record_key.size();
    const std::size_t json_end = list ? text.find('\n', json_at) : text.size();
    BesideRecord record;
    record.identity = text.substr(identity_at, end + 1 - identity_at);
    const Json json = Json::parse(std::string_view(text).substr(json_at, json_end - json_at));
    record.array = array_of(json.at("array"));
    for (const Json& entry : json.at("attributes").values()) {
        record.attributes.emplace_back(entry.at(std::size_t{0}).get<std::string>(),
                                       attribute_of(entry.at(1)));
    }
    if (list) {
        record.rows_checksum = json.at("row_hashes_checksum").get<std::string>();
    }
    const Json own_list = list ? Json::parse(*list) : Json();
    for (const Json& entry : (list ? own_list : json.at("row_hashes")).values()) {
        record.rows.push_back(row_hash_of(entry));
    }
    if (const std::string gap = gap_in(record.rows, row_count(record.array)); !gap.empty()) {
        throw JsonError(gap);
    }
    return record;
}

} // namespace runner
