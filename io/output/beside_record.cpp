// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/beside_record.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/hash.hpp"
#include "io/files/own_file.hpp"
#include "io/files/text_file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace runner {
namespace {

/// An identity has what a job file of at most 1 MiB says.
constexpr std::int64_t longest_identity = 16 * MiB;
/// Checksums of some twenty million runs of rows.
constexpr std::int64_t longest_record = 1 * GiB;

constexpr std::string_view record_key = "\nrecord = ";
constexpr std::string_view checksum_key = "checksum = ";
constexpr std::string_view rows_key = "\nrow_hashes = ";
constexpr std::size_t checksum_digits = 32;
constexpr std::size_t hash_digits = 16;
constexpr int latest = 3;

/// What the text of a record ends with.
constexpr std::string_view end_of(int version) { return version == latest ? "]\n" : "}\n"; }

std::string path_in_journal(const std::string& file) { return journal_folder(file) + "/record"; }

std::string first_line(const std::string& file, int version) {
    const RowsFormat* const format = rows_format_of(file);
    const std::string_view ending = format == nullptr ? "" : ending_of(file, *format);
    return fmt::format("runner {} output {}\n", ending, version);
}

/// What the record begins with of a file with this mark.
std::string head_of(const std::string& file, const FileMark& mark, int version) {
    return fmt::format("{}bytes = {}\nmodified = {} ns\n", first_line(file, version), mark.bytes,
                       mark.modified);
}

/// Whether the text begins as a record of whatever version and mark does.
bool has_head(const std::string& file, std::string_view text) {
    const RowsFormat* const format = rows_format_of(file);
    const std::string_view ending = format == nullptr ? "" : ending_of(file, *format);
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

/// Enough of a file to know whether it is a record.
std::string first_bytes(const std::string& path) {
    constexpr std::int64_t longest_head = 256;
    try {
        const File file(path, File::Mode::read);
        std::string head(static_cast<std::size_t>(std::min(file.size(), longest_head)), ' ');
        file.read(0, std::ssize(head), reinterpret_cast<std::byte*>(head.data()));
        return head;
    } catch (const Error& error) {
        return error.text().why; // no record
    }
}

/// The first bytes of a record, up to the longest identity, and its last two.
struct Glance {
    std::string text;
    std::string end;
    bool whole = false; ///< `text` is all of it
};

Glance glance_at(const std::string& path) {
    const File record(path, File::Mode::read);
    const std::int64_t size = record.size();
    Glance glance;
    glance.whole = size <= longest_identity;
    glance.text.resize(static_cast<std::size_t>(std::min(size, longest_identity)));
    record.read(0, std::ssize(glance.text), reinterpret_cast<std::byte*>(glance.text.data()));
    glance.end.resize(std::min(end_of(latest).size(), glance.text.size()));
    record.read(size - std::ssize(glance.end), std::ssize(glance.end),
                reinterpret_cast<std::byte*>(glance.end.data()));
    return glance;
}

/// What is said of a record that cannot be read.
enum class Unreadable { nothing, an_error };

std::string checksum_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

/// The list of rows in the text of a record of version 3, or the first part of it; nothing where
/// the text before does not match its checksum.
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

/// The identity in a record of the file that has this mark.
std::optional<std::string> identity_in(const std::string& path, const std::string& file,
                                       Unreadable unreadable = Unreadable::nothing) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return std::nullopt;
    }
    try {
        const Glance glance = glance_at(path);
        const FileMark mark = mark_of_output(file);
        const std::string old = head_of(file, mark, 1);
        if (glance.whole && glance.text.starts_with(old)) {
            return glance.text.substr(old.size());
        }
        const int version = glance.text.starts_with(first_line(file, 2)) ? 2 : latest;
        const std::string head = head_of(file, mark, version);
        const std::size_t end = glance.text.find(record_key);
        if (!glance.text.starts_with(head) || end == std::string::npos ||
            glance.end != end_of(version) || (version == latest && !sealed_rows(glance.text))) {
            return std::nullopt;
        }
        return glance.text.substr(head.size(), end + 1 - head.size());
    } catch (const Error& error) {
        if (unreadable == Unreadable::an_error) {
            throw Error(ExitCode::output, error.text());
        }
        return std::nullopt; // nothing that this program wrote
    }
}

std::string dtype_of(const ArrayInfo& array) {
    return is_float16(array) ? float16_text : std::string(name_of(array.type));
}

std::string to_text(const std::string& file, const BesideRecord& record, const FileMark& mark) {
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
    std::string text = head_of(file, mark, latest) + record.identity;
    if (text.ends_with('\n')) {
        text.pop_back();
    }
    text += std::string(record_key) + json.text() + "\n";
    text += std::string(checksum_key) + checksum_of(text);
    return text + std::string(rows_key) + rows.text() + "\n";
}

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
    throw Error(ExitCode::input, {"cannot tell how the file was made", file,
                                  "the record beside it (" + beside_record_path(file) + ") " + why,
                                  "Only a finished output of this program with its record can be "
                                  "verified and repaired"});
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

BesideRecord parse_record(const std::string& text, std::size_t identity_at, int version) {
    const std::size_t end = text.find(record_key);
    if (end == std::string::npos) {
        throw JsonError("it ends before the checksums");
    }
    const std::optional<std::string_view> list =
        version == latest ? sealed_rows(text) : std::optional<std::string_view>();
    if (version == latest && !list) {
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

} // namespace

bool is_recorded_beside(const std::string& file) { return rows_format_of(file) != nullptr; }

std::string beside_record_path(const std::string& file) { return file + ".identity"; }

std::optional<std::string> identity_beside(const std::string& file) {
    return identity_in(beside_record_path(file), file);
}

void prepare_beside_record(const std::string& file, const BesideRecord& record,
                           RowWriter::Sync sync) {
    const std::string path = path_in_journal(file);
    const std::string text = to_text(file, record, mark_of_output(partial_name(file)));
    File written(path, File::Mode::create);
    written.write(0, std::ssize(text), reinterpret_cast<const std::byte*>(text.data()));
    if (sync == RowWriter::Sync::yes) {
        written.sync();
        sync_folder_of(path);
    }
    written.close();
}

std::optional<std::string> identity_in_journal(const std::string& file) {
    return identity_in(path_in_journal(file), file);
}

void check_beside_record(const std::string& file) {
    const std::string path = beside_record_path(file);
    std::string why = foreign_file(path);
    std::error_code ignored;
    if (why.empty() && std::filesystem::is_regular_file(path, ignored)) {
        const std::string head = first_bytes(path);
        why = head.empty() || has_head(file, head) ? "" : "it is no record of this program";
    }
    if (!why.empty()) {
        throw Error(ExitCode::output, {"cannot put the output's record in place", path,
                                       "a file of that name is there, and " + why,
                                       "Move it away, or name another output.file"});
    }
}

void publish_beside_record(const std::string& file, RowWriter::Sync sync) {
    if (!identity_in(path_in_journal(file), file, Unreadable::an_error)) {
        return; // what calls this removes the journal
    }
    check_beside_record(file);
    const std::string path = beside_record_path(file);
    if (std::rename(path_in_journal(file).c_str(), path.c_str()) != 0) {
        throw Error(ExitCode::output, {"cannot put the output's record in place", path,
                                       errno_text(errno), errno_remedy(errno)});
    }
    if (sync == RowWriter::Sync::yes) {
        sync_folder_of(path);
    }
}

BesideRecord read_beside_record(const std::string& file) {
    const std::string path = beside_record_path(file);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        refuse(file, "is not there");
    }
    const std::string text = read_text_file(path, longest_record);
    if (text.starts_with(first_line(file, 1))) {
        refuse(file, "is of an earlier version, without checksums");
    }
    const int version = text.starts_with(first_line(file, 2)) ? 2 : latest;
    // The lines of the mark may be of the file as it was.
    const std::string head = first_line(file, version) + "bytes = ";
    const std::size_t time_at = text.find("\nmodified = ", head.size());
    const std::size_t identity_at = text.find('\n', time_at + 1) + 1;
    if (!text.starts_with(head) || time_at == std::string::npos || identity_at == 0) {
        refuse(file, "is damaged in its first lines");
    }
    try {
        return parse_record(text, identity_at, version);
    } catch (const JsonError& error) {
        refuse(file, std::string("is damaged: ") + error.what());
    } catch (const Error& error) { // of a shape that is too large
        refuse(file, "is damaged: " + error.text().what);
    }
}

void write_beside_record(const std::string& file, const BesideRecord& record) {
    const std::string text = to_text(file, record, mark_of_output(file));
    replace_file(beside_record_path(file), std::as_bytes(std::span(text)), Durable::yes);
}

} // namespace runner
