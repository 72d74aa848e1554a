// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/own_parts.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/folder_tree.hpp"
#include "io/files/own_file.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/journal.hpp"
#include "io/output/publish_slices.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_foreign_part(const std::string& path, const std::string& why) {
    throw Error(ExitCode::output, {"cannot use the name for the output's parts", path, why,
                                   "Move or rename it, or name another output.file"});
}

/// Whether the name is one of the files and folders that a journal holds. A network file system
/// keeps removed files that are still open as ".nfs…".
bool is_of_journal(std::string_view name) {
    constexpr std::array<std::string_view, 4> starts = {"alive-", "checkpoint-", "scratch-",
                                                        ".nfs"};
    constexpr std::array<std::string_view, 5> names = {"begun", "identity", "identity.new",
                                                       "record", "stop"};
    return std::find(names.begin(), names.end(), name) != names.end() || name.ends_with(".rows") ||
           std::any_of(starts.begin(), starts.end(),
                       [&](std::string_view start) { return name.starts_with(start); });
}

enum class Journal { none, empty, begun };

/// @throws Error for another folder, a link or a file of its name.
Journal journal_of(const std::string& file, const FileLock& lock) {
    const std::string folder = journal_folder(file);
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(folder, failure);
    if (!fs::exists(status)) {
        return Journal::none;
    }
    if (!fs::is_directory(status)) {
        refuse_foreign_part(folder, "it is not a folder but a file or a link");
    }
    if (const std::string why = lock.foreign(folder); !why.empty()) {
        refuse_foreign_part(folder, why);
    }
    Journal found = Journal::empty;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (!is_of_journal(name)) {
            refuse_foreign_part(folder,
                                "it holds \"" + name + "\", which no journal of this program does");
        }
        found = Journal::begun;
    }
    return found;
}

/// What a job writes beside its output but for the journal and the parts.
std::vector<std::string> partial_files(const std::string& file) {
    std::vector<std::string> files = shard_paths({partial_name(file), "", {}, {}});
    files.push_back(partial_name(file));
    files.push_back(partial_name(file) + ".layout");
    if (SliceNames::of(file)) {
        files.push_back(replaced_list(file));
    }
    return files;
}

/// Refuses a folder that is to be an output and holds what none does.
void check_folder(const std::string& path) {
    const FolderOfChunks* const folder = folder_output_of(path);
    for (const std::string& name : files_in(path)) {
        if (!folder->owns(path, name)) {
            refuse_foreign_part(path, "it holds \"" + printable(name) +
                                          "\", which no output of this program does");
        }
    }
}

/// Through links as far as they can be followed. A path that cannot be, as of a name that is too
/// long, stays as it is: an empty one would be the beginning of any other.
fs::path real_path(const std::string& name) {
    std::error_code failure;
    const fs::path path = fs::absolute(name, failure);
    const fs::path real = fs::weakly_canonical(path, failure);
    return failure ? path.lexically_normal() : real;
}

enum class Known { no, yes };

void check_part(const std::string& path, Known known, const FileLock& lock) {
    if (const std::string why = foreign_file(path); !why.empty()) {
        refuse_foreign_part(path, why);
    }
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(path, failure);
    if (!fs::exists(status)) {
        return;
    }
    const bool is_output_folder = fs::is_directory(status) && is_folder_output(path);
    if (!fs::is_regular_file(status) && !is_output_folder) {
        refuse_foreign_part(path,
                            fs::is_directory(status) ? "it is a folder" : "it is no regular file");
    }
    if (const std::string why = lock.foreign(path); !why.empty()) {
        refuse_foreign_part(path, why);
    }
    if (is_output_folder) {
        check_folder(path);
    }
    const bool is_empty = is_output_folder ? fs::is_empty(path, failure) && !failure
                                           : fs::file_size(path, failure) == 0 && !failure;
    if (known == Known::no && !is_empty) {
        refuse_foreign_part(
            path, std::string(is_output_folder ? "a folder" : "a file") +
                      " of that name is there, and it was not begun by this program: neither "
                      "a journal nor a lock stands beside it");
    }
}

} // namespace

std::string partial_name(const std::string& file) { return file + ".partial"; }

std::vector<std::string> names_on_the_way(const std::string& file) {
    std::vector<std::string> names = {partial_name(file), lock_path(file), journal_folder(file)};
    if (is_recorded_beside(file)) {
        names.push_back(beside_record_path(file));
    }
    if (SliceNames::of(file)) {
        for (const std::string& name : publishing_names(file)) {
            names.push_back(name);
        }
    }
    return names;
}

std::optional<std::string> name_on_the_way(const std::string& file, const std::string& other) {
    std::error_code ignored;
    const fs::path path = real_path(other);
    for (const std::string& name : names_on_the_way(file)) {
        const fs::path taken = real_path(name);
        const auto end = std::mismatch(taken.begin(), taken.end(), path.begin(), path.end()).first;
        if (end == taken.end() || (fs::equivalent(name, other, ignored) && !ignored)) {
            return name;
        }
    }
    return std::nullopt;
}

std::int64_t bytes_of_shards(const std::string& file) {
    std::int64_t bytes = 0;
    for (const std::string& shard : shard_paths({partial_name(file), "", {}, {}})) {
        bytes += std::max<std::int64_t>(0, mark_of(shard).bytes);
    }
    return bytes;
}

bool has_left_parts(const std::string& file, const FileLock& lock) {
    const Journal journal = journal_of(file, lock);
    return journal == Journal::begun || lock.was_left() ||
           (journal == Journal::empty && lock.was_cut_off());
}

void check_own_parts(const std::string& file, const FileLock& lock) {
    const Known known = has_left_parts(file, lock) ? Known::yes : Known::no;
    const std::vector<std::string> files = partial_files(file);
    for (const std::string& path : files) {
        check_part(path, known, lock);
    }
    if (journal_of(file, lock) != Journal::begun) {
        for (const std::string& path : files) {
            std::error_code ignored; // whatever stays is replaced
            if (fs::exists(path, ignored)) {
                fs::remove_all(path, ignored);
            }
        }
    }
}

namespace {

/// Nothing is written through a link, and nothing can have its name.
void refuse_broken_link(const std::string& file) {
    std::error_code failure;
    if (fs::is_symlink(file, failure) && !fs::exists(file, failure)) {
        throw Error(ExitCode::output,
                    {"cannot make the file", file, "it is a link to what is not there",
                     "Remove the link, or name another file"});
    }
}

/// Leaves the lock where `naming` fails before all slices have their names: no journal says whose
/// they are.
template <class Naming>
void name_slices(const std::string& file, FileLock& lock, const Naming& naming) {
    try {
        naming();
    } catch (const Error&) {
        if (!publishing_folder(file).empty()) {
            lock.leave();
        }
        throw;
    }
}

} // namespace

PartialOutput::PartialOutput(const std::string& file)
    : file_(file), partial_(partial_name(file)),
      lock_(lock_path(file), fmt::format("process {}", ::getpid())) {
    refuse_broken_link(file);
    if (journal_of(file, lock_) != Journal::none) {
        refuse_foreign_part(journal_folder(file), "it is of a job that stopped and can be resumed");
    }
    if (const std::string slices = publishing_folder(file); !slices.empty()) {
        const std::string why = lock_.foreign(slices);
        if (!why.empty() || !lock_.was_left()) {
            refuse_foreign_part(slices, why.empty() ? "it was not begun by this program" : why);
        }
        if (is_output_there(file)) {
            name_slices(file, lock_, [&] { finish_slices(file, RowWriter::Sync::yes); });
        } else {
            remove_tree(slices); // none has its name: they are made once more
        }
    } else if (is_half_published(partial_, file_) && lock_.was_left() &&
               lock_.foreign(partial_).empty()) {
        finish_publishing(partial_, file_);
    }
    check_own_parts(file, lock_);
    lock_.sync(); // no journal will say whose the file is
}

PartialOutput::~PartialOutput() {
    if (is_published_) {
        return;
    }
    std::error_code ignored;
    fs::remove(partial_, ignored); // a file is then gone where nothing can be opened either
    fs::remove_all(partial_, ignored);
    if (SliceNames::of(file_) && publishing_folder(file_).empty()) {
        fs::remove(replaced_list(file_), ignored); // of slices that are not replaced after all
    }
    if (fs::symlink_status(partial_, ignored).type() != fs::file_type::not_found) {
        lock_.leave(); // nothing else says whose it is
    }
}

void clean_up_beside(const std::string& file) {
    if (!is_lock_left(lock_path(file))) {
        return;
    }
    try {
        const PartialOutput left(file);
    } catch (const Error&) { // somebody holds it, or it is not to be touched
    }
}

void PartialOutput::publish(Overwrite overwrite, RowWriter::Sync sync) {
    name_slices(file_, lock_, [&] { publish_output(partial_, file_, overwrite, sync); });
    is_published_ = true;
}

} // namespace runner
