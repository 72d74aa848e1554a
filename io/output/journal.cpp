// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/journal.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/hash.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t record_bytes = 32;
/// So that a count of bytes does not overflow.
constexpr std::int64_t most_records = std::int64_t{1} << 56;
constexpr std::array<char, 8> magic = {'R', 'N', 'R', 'O', 'W', 'S', '1', '\n'};
constexpr std::string_view identity_version = "runner journal 1\n";
constexpr const char* ending = ".rows";
/// A job file may have 1 MiB, and an identity is a few lines beside what comes of it.
constexpr std::int64_t longest_journal_identity = 16 * MiB;

static_assert(std::endian::native == std::endian::little, "records are written as they lie");

struct Record {
    std::uint64_t first = 0;
    std::uint64_t rows = 0;
    std::uint64_t hash = 0;
    std::uint32_t batch = 0;
    std::uint32_t check = 0;
};
static_assert(sizeof(Record) == record_bytes);

struct Header {
    std::array<char, 8> mark = magic;
    std::uint64_t attempt = 0;
    std::array<std::uint32_t, 3> zeros{};
    std::uint32_t check = 0;
};
static_assert(sizeof(Header) == record_bytes);

/// The check of a record's or header's bytes before it.
std::uint32_t check_of(const void* bytes, std::int64_t attempt) {
    constexpr std::size_t checked = record_bytes - sizeof(std::uint32_t);
    std::array<std::byte, checked + sizeof(attempt)> together{};
    std::memcpy(together.data(), bytes, checked);
    std::memcpy(together.data() + checked, &attempt, sizeof(attempt));
    return static_cast<std::uint32_t>(hash_bytes(together.data(), std::ssize(together)));
}

[[noreturn]] void damaged(const std::string& where, const std::string& why) {
    throw Error(ExitCode::output, {"cannot resume from the journal", where, why,
                                   "Set run.resume = \"never\" to restart the job"});
}

[[noreturn]] void fail(const std::string& what, const std::string& where,
                       const std::error_code& failure) {
    throw Error(ExitCode::output, {what, where, failure.message(), errno_remedy(failure.value())});
}

std::string identity_path(const std::string& folder) { return folder + "/identity"; }

std::string records_path(const std::string& folder, std::int64_t attempt, const std::string& name) {
    return fmt::format("{}/{}-{}{}", folder, attempt, name, ending);
}

/// The bytes of a file of the journal. One that is longer than what this program writes is
/// another's or damaged, and may be of any length: it is not read.
std::string read_whole(const std::string& path, std::int64_t most_bytes) {
    const File file(path, File::Mode::update);
    if (file.size() > most_bytes) {
        damaged(path, "it is not of this job or it is damaged: it has " + size_text(file.size()) +
                          ", and at most " + size_text(most_bytes) + " are possible");
    }
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, std::ssize(text), reinterpret_cast<std::byte*>(text.data()));
    return text;
}

/// The files of records in the folder: those of this attempt, or of all others.
enum class Which { of_attempt, of_others };
std::vector<std::string> record_files(const std::string& folder, std::int64_t attempt,
                                      Which which) {
    const std::string start = fmt::format("{}-", attempt);
    std::vector<std::string> files;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (name.ends_with(ending) && name.starts_with(start) == (which == Which::of_attempt)) {
            files.push_back(entry->path().string());
        }
    }
    if (failure) {
        fail("cannot list the journal", folder, failure);
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Refuses what was on the disk once and is no more, so that it is no torn append: bad bytes before
/// a record of any batch but the newest, and batches of which nothing is left.
void check_settled(const std::vector<std::optional<Record>>& records, const std::string& name) {
    std::uint32_t newest = 0;
    for (const auto& record : records) {
        newest = record ? std::max(newest, record->batch) : newest;
    }
    std::uint32_t batch = 0;
    std::optional<std::size_t> bad;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (!records[i]) {
            bad = bad.value_or(i);
            continue;
        }
        const std::uint32_t next = records[i]->batch;
        if ((bad && next < newest) || (next != batch && next != batch + 1)) {
            damaged(fmt::format("{}, byte {}", name,
                                record_bytes * (static_cast<std::int64_t>(bad.value_or(i)) + 1)),
                    "its bytes have changed");
        }
        batch = next;
    }
}

RowHash checked_row_hash(const Record& record, std::int64_t total_rows, const std::string& name) {
    const auto total = static_cast<std::uint64_t>(total_rows);
    if (record.rows == 0 || record.rows > total || record.first > total - record.rows) {
        damaged(name, fmt::format("it lists rows beyond the output's {}", total_rows));
    }
    return {static_cast<std::int64_t>(record.first), static_cast<std::int64_t>(record.rows),
            record.hash};
}

/// The identity last: a run that is killed in here finds it again and ends the work.
std::error_code remove_entries(const std::string& folder) {
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        if (entry->path() != identity_path(folder)) {
            fs::remove_all(entry->path(), failure);
        }
    }
    if (!failure && fs::exists(identity_path(folder), failure)) {
        fs::remove(identity_path(folder), failure);
    }
    return failure;
}

} // namespace

std::string journal_folder(const std::string& file) { return file + ".journal"; }

bool lists_rows(const std::string& folder) {
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        std::error_code unknown;
        if (entry->path().filename().string().ends_with(ending) &&
            (entry->file_size(unknown) > record_bytes || unknown)) {
            return true;
        }
    }
    if (failure && failure != std::errc::no_such_file_or_directory) {
        fail("cannot list the journal", folder, failure);
    }
    return false;
}

std::optional<JournalIdentity> read_identity(const std::string& folder) {
    const std::string path = identity_path(folder);
    std::error_code failure;
    if (!fs::exists(path, failure)) {
        if (failure) {
            fail("cannot inspect the journal", path, failure);
        }
        return std::nullopt;
    }
    return parse_identity(read_whole(path, longest_journal_identity), path);
}

JournalIdentity parse_identity(const std::string& bytes, const std::string& name) {
    if (!bytes.starts_with(identity_version)) {
        damaged(name, "it is not of this version of the program");
    }
    // The last line is the check of what is before.
    const std::size_t last = bytes.rfind("\ncheck ");
    JournalIdentity identity;
    const char* number = bytes.data() + identity_version.size();
    const auto [rest, wrong] =
        std::from_chars(number, bytes.data() + bytes.size(), identity.attempt);
    if (last == std::string::npos || wrong != std::errc() || *rest != '\n' ||
        bytes.substr(last + 1) !=
            fmt::format("check {}\n", hash_bytes(reinterpret_cast<const std::byte*>(bytes.data()),
                                                 static_cast<std::int64_t>(last + 1)))) {
        damaged(name, "its bytes have changed");
    }
    const auto begin = static_cast<std::size_t>(rest + 1 - bytes.data());
    identity.text = bytes.substr(begin, last + 1 - begin);
    return identity;
}

std::optional<PartLayout> parts_in_journal(const std::string& file) {
    try {
        const std::optional<JournalIdentity> identity = read_identity(journal_folder(file));
        return identity ? parts_of_identity(identity->text) : std::nullopt;
    } catch (const Error&) { // whoever resumes from the journal reports it
        return std::nullopt;
    }
}

void make_journal(const std::string& folder) {
    std::error_code failure;
    if (fs::is_symlink(fs::symlink_status(folder, failure))) {
        throw Error(ExitCode::output, {"cannot make the journal's folder", folder,
                                       "a symbolic link has its name", "Remove the link"});
    }
    failure.clear(); // there is nothing of that name
    fs::create_directories(folder, failure);
    if (failure) {
        fail("cannot make the journal's folder", folder, failure);
    }
}

void write_identity(const std::string& folder, const JournalIdentity& identity,
                    RowWriter::Sync sync) {
    make_journal(folder);
    std::string text(identity_version);
    text += fmt::format("{}\n{}", identity.attempt, identity.text);
    if (!text.ends_with('\n')) {
        text += '\n';
    }
    text += fmt::format("check {}\n", hash_bytes(reinterpret_cast<const std::byte*>(text.data()),
                                                 std::ssize(text)));
    const std::string path = identity_path(folder);
    File file(path + ".new", File::Mode::create);
    file.write(0, std::ssize(text), reinterpret_cast<const std::byte*>(text.data()));
    if (sync == RowWriter::Sync::yes) {
        file.sync();
    }
    file.close();
    std::error_code failure;
    fs::rename(path + ".new", path, failure);
    if (failure) {
        fail("cannot put the journal's identity in place", path, failure);
    }
    if (sync == RowWriter::Sync::yes) {
        sync_folder_of(path);
        sync_folder_of(folder);
    }
    for (const std::string& old : record_files(folder, identity.attempt, Which::of_others)) {
        fs::remove(old, failure); // they count no more, whether they go or stay
    }
}

void clear_journal(const std::string& folder, RowWriter::Sync sync) {
    make_journal(folder);
    if (const std::error_code failure = remove_entries(folder)) {
        fail("cannot empty the journal", folder, failure);
    }
    if (sync == RowWriter::Sync::yes) {
        sync_folder_of(identity_path(folder));
        sync_folder_of(folder);
    }
}

void begin_without_identity(const std::string& folder) {
    File(folder + "/begun", File::Mode::create).close();
}

void remove_journal(const std::string& folder) {
    std::error_code failure = remove_entries(folder);
    if (failure == std::errc::no_such_file_or_directory) {
        return;
    }
    if (!failure) {
        fs::remove_all(folder, failure);
    }
    if (failure) {
        fail("cannot remove the journal", folder, failure);
    }
}

JournalRows parse_journal(std::span<const std::byte> bytes, std::int64_t attempt,
                          std::int64_t total_rows, const std::string& name) {
    JournalRows result;
    Header header;
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (std::ssize(bytes) < record_bytes ||
        (std::ssize(bytes) == record_bytes && std::all_of(bytes.begin(), bytes.end(), is_zero))) {
        // Cut short between making the file and its first sync, before any record.
        result.notes.push_back(name + ": cut off in its first bytes");
        return result;
    }
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.mark != magic || header.check != check_of(&header, attempt) ||
        header.attempt != static_cast<std::uint64_t>(attempt)) {
        if (std::ssize(bytes) == record_bytes) {
            // A power cut before its first sync may leave the length without the bytes.
            result.notes.push_back(name + ": its first bytes are damaged, and it has no others");
            return result;
        }
        damaged(name, "its first bytes are not those of a journal of this run");
    }
    std::vector<std::optional<Record>> records;
    std::size_t at = record_bytes;
    for (; at + record_bytes <= bytes.size(); at += record_bytes) {
        Record record;
        std::memcpy(&record, bytes.data() + at, sizeof(record));
        records.push_back(record.check == check_of(&record, attempt) ? std::optional(record)
                                                                     : std::nullopt);
    }
    check_settled(records, name);
    std::size_t bad = at < bytes.size() ? 1 : 0;
    for (const auto& record : records) {
        if (record) {
            result.rows.push_back(checked_row_hash(*record, total_rows, name));
        } else {
            ++bad;
        }
    }
    if (bad > 0) {
        result.notes.push_back(
            fmt::format("{}: the last {} records were cut off and are left out", name, bad));
    }
    return result;
}

JournalRows read_journal(const std::string& folder, std::int64_t attempt, std::int64_t total_rows) {
    JournalRows all;
    // A header, a record of each row at most, and the beginning of one that was cut off.
    const std::int64_t records = std::min(total_rows, most_records) + 2;
    for (const std::string& path : record_files(folder, attempt, Which::of_attempt)) {
        const std::string bytes = read_whole(path, records * record_bytes);
        JournalRows one = parse_journal(std::as_bytes(std::span(bytes)), attempt, total_rows, path);
        all.rows.insert(all.rows.end(), one.rows.begin(), one.rows.end());
        all.notes.insert(all.notes.end(), one.notes.begin(), one.notes.end());
    }
    std::sort(all.rows.begin(), all.rows.end(),
              [](const RowHash& a, const RowHash& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < all.rows.size(); ++i) {
        if (all.rows[i].first < all.rows[i - 1].first + all.rows[i - 1].rows) {
            damaged(folder, fmt::format("row {} is listed twice", all.rows[i].first));
        }
    }
    return all;
}

JournalWriter::JournalWriter(const std::string& folder, std::int64_t attempt,
                             const std::string& name, RowWriter::Sync sync)
    : file_(records_path(folder, attempt, name), File::Mode::create), sync_(sync),
      attempt_(attempt) {
    Header header;
    header.attempt = static_cast<std::uint64_t>(attempt);
    header.check = check_of(&header, attempt);
    file_.write(0, record_bytes, reinterpret_cast<const std::byte*>(&header));
    if (sync == RowWriter::Sync::yes) {
        file_.sync();
        sync_folder_of(file_.path());
    }
    end_ = record_bytes;
}

void JournalWriter::append(std::span<const RowHash> rows) {
    if (rows.empty()) {
        return;
    }
    std::vector<Record> records;
    for (const RowHash& run : rows) {
        Record record{static_cast<std::uint64_t>(run.first), static_cast<std::uint64_t>(run.rows),
                      run.hash, batches_ + 1, 0};
        record.check = check_of(&record, attempt_);
        records.push_back(record);
    }
    const std::int64_t bytes = record_bytes * std::ssize(records);
    file_.write(end_, bytes, reinterpret_cast<const std::byte*>(records.data()));
    if (sync_ == RowWriter::Sync::yes) {
        file_.sync();
    }
    end_ += bytes;
    ++batches_;
}

} // namespace runner
