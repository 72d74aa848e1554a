// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/folder_tree.hpp"

#include "base/error.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"
#include "io/files/own_file.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const std::string& path, const std::string& why) {
    throw Error(ExitCode::output, {what, path, why, "Move or remove it, or name another output"});
}

/// All within a folder, each behind the folder that holds it.
std::vector<fs::directory_entry> entries_of(const std::string& folder) {
    constexpr const char* what = "cannot list the output's folder";
    std::vector<fs::directory_entry> entries;
    std::error_code failure;
    fs::recursive_directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
        std::error_code unknown;
        const fs::file_status status = entry->symlink_status(unknown);
        if (unknown || !(fs::is_directory(status) || fs::is_regular_file(status))) {
            fail(what, entry->path().string(), "it is neither a regular file nor a folder");
        }
        entries.push_back(*entry);
    }
    if (failure) {
        fail(what, folder, failure.message());
    }
    return entries;
}

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return fs::is_directory(fs::symlink_status(path, ignored));
}

} // namespace

void make_output_folder(const std::string& folder) {
    constexpr const char* what = "cannot make the output's folder";
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(folder, failure);
    if (fs::exists(status) && !fs::is_directory(status)) {
        fail(what, folder, "a file or a link has its name");
    }
    if (const std::string why = foreign_owner(folder); !why.empty()) {
        fail(what, folder, why);
    }
    failure.clear();
    if (!fs::exists(status) && !fs::create_directory(folder, failure) && failure) {
        throw Error(ExitCode::output,
                    {what, folder, failure.message(), errno_remedy(failure.value())});
    }
}

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : entries_of(folder)) {
        if (!entry.is_directory()) {
            names.push_back(entry.path().lexically_relative(folder).string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

void remove_tree(const std::string& path) {
    std::error_code failure;
    fs::remove_all(path, failure);
    if (failure) {
        throw Error(ExitCode::output, {"cannot remove what an output left", path, failure.message(),
                                       errno_remedy(failure.value())});
    }
}

void sync_file_system(const std::string& folder) {
    const Descriptor opened(open_again(folder, O_RDONLY | O_DIRECTORY));
    if (opened.get() < 0 || ::syncfs(opened.get()) != 0) {
        throw Error(ExitCode::output,
                    {"cannot sync a folder", folder, errno_text(errno), errno_remedy(errno)});
    }
}

void sync_tree(const std::string& folder) {
    const std::vector<fs::directory_entry> entries = entries_of(folder);
    if (std::ssize(entries) > synced_singly) {
        sync_file_system(folder);
        return;
    }
    for (const fs::directory_entry& entry : entries) {
        const std::string path = entry.path().string();
        if (entry.is_directory()) {
            sync_folder_of(path + "/.");
        } else {
            File file(path, File::Mode::update);
            file.sync();
            file.close();
        }
    }
    sync_folder_of(folder + "/.");
}

FileMark mark_of_tree(const std::string& path, const std::string& left_out) {
    if (!is_folder(path)) {
        return mark_of(path);
    }
    FileMark mark{0, 0};
    try {
        for (const std::string& name : files_in(path)) {
            if (!left_out.empty() && (name == left_out || name == left_out + ".partial")) {
                continue;
            }
            const FileMark file = mark_of((fs::path(path) / name).string());
            mark.bytes += file.bytes;
            mark.modified = std::max(mark.modified, file.modified);
        }
    } catch (const Error&) { // with what no output has in it
        return {0, 0};
    }
    return mark;
}

} // namespace runner
