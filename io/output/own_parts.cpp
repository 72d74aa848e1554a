// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/own_parts.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/own_file.hpp"
#include "io/output/journal.hpp"
#include "io/writers/shards.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(ExitCode::output, {"cannot use the name for the output's parts", path, why,
                                   "Move or rename it, or name another output.file"});
}

/// Of the files and folders that a journal holds. A network file system keeps removed files that
/// are still open as ".nfs…".
bool is_of_journal(std::string_view name) {
    constexpr std::array<std::string_view, 4> starts = {"alive-", "checkpoint-", "scratch-",
                                                        ".nfs"};
    constexpr std::array<std::string_view, 4> names = {"identity", "identity.new", "record",
                                                       "stop"};
    return std::find(names.begin(), names.end(), name) != names.end() || name.ends_with(".rows") ||
           std::any_of(starts.begin(), starts.end(),
                       [&](std::string_view start) { return name.starts_with(start); });
}

/// Whether there is a journal. @throws Error for another folder, a link or a file of its name.
bool has_journal(const std::string& folder) {
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(folder, failure);
    if (!fs::exists(status)) {
        return false;
    }
    if (!fs::is_directory(status)) {
        refuse(folder, "it is not a folder but a file or a link");
    }
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (!is_of_journal(name)) {
            refuse(folder, "it holds \"" + name + "\", which no journal of this program does");
        }
    }
    return true;
}

enum class Known { no, yes };

void check_part(const std::string& path, Known known) {
    if (const std::string why = foreign_file(path); !why.empty()) {
        refuse(path, why);
    }
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(path, failure);
    if (!fs::exists(status)) {
        return;
    }
    if (!fs::is_regular_file(status)) {
        refuse(path, fs::is_directory(status) ? "it is a folder" : "it is no regular file");
    }
    const bool is_empty = fs::file_size(path, failure) == 0 && !failure;
    if (known == Known::no && !is_empty) {
        refuse(path, "a file of that name is there, and it was not begun by this program: neither "
                     "a journal nor a lock stands beside it");
    }
}

void check_parts(const std::string& file, Known known) {
    check_part(partial_name(file), known);
    check_part(partial_name(file) + ".layout", known);
    for (const std::string& shard : shard_paths({partial_name(file), "", {}, {}})) {
        check_part(shard, known);
    }
}

} // namespace

std::string partial_name(const std::string& file) { return file + ".partial"; }

void check_own_parts(const std::string& file, const FileLock& lock) {
    const bool journal = has_journal(journal_folder(file));
    check_parts(file, journal || lock.was_left() ? Known::yes : Known::no);
}

PartialOutput::PartialOutput(const std::string& file)
    : file_(file), partial_(partial_name(file)),
      lock_(lock_path(file), fmt::format("process {}", ::getpid())) {
    if (has_journal(journal_folder(file))) {
        refuse(journal_folder(file), "it is of a job that stopped and can be resumed");
    }
    check_parts(file, lock_.was_left() ? Known::yes : Known::no);
}

PartialOutput::~PartialOutput() {
    if (!is_published_) {
        std::error_code ignored;
        fs::remove(partial_, ignored);
    }
}

void PartialOutput::publish(Overwrite overwrite, RowWriter::Sync sync) {
    publish_output(partial_, file_, overwrite, sync);
    is_published_ = true;
}

} // namespace runner
