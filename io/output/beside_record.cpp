// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/beside_record.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/own_file.hpp"
#include "io/files/text_file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "io/writers/record_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

namespace runner {
namespace {

/// An identity has what a job file of at most 1 MiB says.
constexpr std::int64_t longest_identity = 16 * MiB;
/// Checksums of some twenty million runs of rows.
constexpr std::int64_t longest_record = 1 * GiB;

/// Which the record begins with.
std::string_view record_ending(const std::string& file) {
    const RowsFormat* const format = rows_format_of(file);
    return format == nullptr ? "" : ending_of(file, *format);
}

std::string path_in_journal(const std::string& file) { return journal_folder(file) + "/record"; }

std::string path_beside(const std::string& file) { return file + ".identity"; }

/// Where a folder, or one that is being written, has its record; "": it stands beside the output.
std::string path_within(const std::string& file) {
    const FolderOfChunks* const folder = folder_output_of(file);
    return folder == nullptr || folder->record == nullptr ? "" : file + "/" + folder->record;
}

/// Where the record is written.
std::string path_of_new(const std::string& file) {
    const std::string within = path_within(file);
    return within.empty() ? path_beside(file) : within;
}

/// The lines of a record that is JSON; any other text as it is.
std::string lines_of(std::string text) {
    if (!text.starts_with('{')) {
        return text;
    }
    try {
        return record_lines(text);
    } catch (const JsonError&) {
        return text; // which is no record
    }
}

/// Enough of a file to know whether it is a record.
std::string first_bytes(const std::string& path) {
    constexpr std::int64_t longest_head = 256;
    try {
        const File file(path, File::Mode::read);
        if (path.ends_with(".json")) {
            return lines_of(read_text_file(path, longest_record));
        }
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
    Glance glance;
    if (path.ends_with(".json")) {
        glance.text = lines_of(read_text_file(path, longest_record));
        glance.end = glance.text.substr(
            glance.text.size() - std::min(end_of_record(latest_record).size(), glance.text.size()));
        glance.whole = true;
        return glance;
    }
    const File record(path, File::Mode::read);
    const std::int64_t size = record.size();
    glance.whole = size <= longest_identity;
    glance.text.resize(static_cast<std::size_t>(std::min(size, longest_identity)));
    record.read(0, std::ssize(glance.text), reinterpret_cast<std::byte*>(glance.text.data()));
    glance.end.resize(std::min(end_of_record(latest_record).size(), glance.text.size()));
    record.read(size - std::ssize(glance.end), std::ssize(glance.end),
                reinterpret_cast<std::byte*>(glance.end.data()));
    return glance;
}

/// What is said of a record that cannot be read.
enum class Unreadable { nothing, an_error };

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
        const std::string old = record_head(record_ending(file), mark, 1);
        if (glance.whole && glance.text.starts_with(old)) {
            return glance.text.substr(old.size());
        }
        const int version =
            glance.text.starts_with(first_record_line(record_ending(file), 2)) ? 2 : latest_record;
        const std::string head = record_head(record_ending(file), mark, version);
        const std::size_t end = glance.text.find(record_key);
        if (!glance.text.starts_with(head) || end == std::string::npos ||
            glance.end != end_of_record(version) ||
            (version == latest_record && !sealed_rows(glance.text))) {
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

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
    throw Error(ExitCode::input,
                {"cannot tell how the file was made", file, beside_record_text(file) + " " + why,
                 "Only a finished output of this program with its record can be "
                 "verified and repaired"});
}

void write_record(const std::string& path, const std::string& text, RowWriter::Sync sync) {
    File written(path, File::Mode::create);
    written.write(0, std::ssize(text), reinterpret_cast<const std::byte*>(text.data()));
    if (sync == RowWriter::Sync::yes) {
        written.sync();
        sync_folder_of(path);
    }
    written.close();
}

/// Removes the record that an earlier version put beside a folder.
void remove_beside(const std::string& file) {
    const std::string path = path_beside(file);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored)) &&
        has_record_head(record_ending(file), first_bytes(path))) {
        std::filesystem::remove(path, ignored); // one that stays is of another file
    }
}

} // namespace

bool is_recorded_beside(const std::string& file) { return rows_format_of(file) != nullptr; }

std::string beside_record_path(const std::string& file) {
    const std::string within = path_within(file);
    return !within.empty() && (is_there(within) || !is_there(path_beside(file)))
               ? within
               : path_beside(file);
}

std::string beside_record_text(const std::string& file) {
    const std::string path = beside_record_path(file);
    return std::string("the record ") + (path == path_beside(file) ? "beside" : "in") + " it (" +
           path + ")";
}

std::optional<std::string> identity_beside(const std::string& file) {
    return identity_in(beside_record_path(file), file);
}

void prepare_beside_record(const std::string& file, const BesideRecord& record,
                           RowWriter::Sync sync) {
    const std::string within = path_within(partial_name(file));
    const FileMark mark = mark_of_output(partial_name(file));
    if (within.empty()) {
        write_record(path_in_journal(file), record_text(record_ending(file), mark, record), sync);
        return;
    }
    write_record(within, record_json(record_text(record_ending(file), mark, record)), sync);
    BesideRecord without_rows = record;
    without_rows.rows.clear();
    write_record(path_in_journal(file), record_text(record_ending(file), mark, without_rows), sync);
}

std::optional<std::string> identity_in_journal(const std::string& file) {
    return identity_in(path_in_journal(file), file);
}

void check_beside_record(const std::string& file) {
    const std::string path = path_of_new(file);
    std::string why = foreign_file(path);
    std::error_code ignored;
    if (why.empty() && std::filesystem::is_regular_file(path, ignored)) {
        const std::string head = first_bytes(path);
        why = head.empty() || has_record_head(record_ending(file), head)
                  ? ""
                  : "it is no record of this program";
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
    if (!path_within(file).empty()) {
        remove_beside(file);
        return;
    }
    check_beside_record(file);
    const std::string path = path_beside(file);
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
    const std::string text = lines_of(read_text_file(path, longest_record));
    if (text.starts_with(first_record_line(record_ending(file), 1))) {
        refuse(file, "is of an earlier version, without checksums");
    }
    const int version =
        text.starts_with(first_record_line(record_ending(file), 2)) ? 2 : latest_record;
    // The lines of the mark may be of the file as it was.
    const std::string head = first_record_line(record_ending(file), version) + "bytes = ";
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
    const std::string within = path_within(file);
    std::string text = record_text(record_ending(file), mark_of_output(file), record);
    if (!within.empty()) {
        text = record_json(text);
    }
    replace_file(path_of_new(file), std::as_bytes(std::span(text)), Durable::yes);
    if (!within.empty()) {
        remove_beside(file);
    }
}

} // namespace runner
