// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/part_files.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/own_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace runner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_part(const std::string& path, const std::string& why) {
    throw Error(ExitCode::output, {"cannot use the folder of the output's parts", path, why,
                                   "Move or rename it, or name another output.file"});
}

[[noreturn]] void fail_at_part(const std::string& what, const std::string& path,
                               const std::error_code& failure) {
    throw Error(ExitCode::output, {what, path, failure.message(), errno_remedy(failure.value())});
}

/// Whether there is a folder. @throws Error for anything else of its name.
bool has_folder(const std::string& folder) {
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(folder, failure);
    if (fs::exists(status) && !fs::is_directory(status)) {
        refuse_part(folder, "it is not a folder but a file or a link");
    }
    return fs::exists(status);
}

void check_part(const fs::directory_entry& entry) {
    const std::string path = entry.path().string();
    if (const std::string why = foreign_file(path); !why.empty()) {
        refuse_part(path, why);
    }
    std::error_code failure;
    if (!fs::is_regular_file(entry.symlink_status(failure))) {
        refuse_part(path, "it is no regular file");
    }
}

} // namespace

std::vector<std::string> part_files(const std::string& folder, std::optional<int> set) {
    std::vector<std::string> files;
    if (!has_folder(folder)) {
        return files;
    }
    std::error_code failure;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(".nfs")) {
            continue; // a removed file that is still open, on a network file system
        }
        const std::optional<int> its_set = set_of_part_name(name);
        if (!its_set) {
            refuse_part(folder, "it holds \"" + name + "\", which no part of an output is called");
        }
        check_part(*entry);
        if (!set || *set == *its_set) {
            files.push_back(entry->path().string());
        }
    }
    if (failure) {
        fail_at_part("cannot list the folder of the output's parts", folder, failure);
    }
    std::sort(files.begin(), files.end());
    return files;
}

void make_parts_folder(const std::string& folder) {
    if (const std::string why = foreign_owner(folder); !why.empty()) {
        refuse_part(folder, why);
    }
    std::error_code failure;
    if (!has_folder(folder) && !fs::create_directory(folder, failure) && failure) {
        fail_at_part("cannot make the folder of the output's parts", folder, failure);
    }
}

void remove_parts(const std::string& folder, std::optional<int> set) {
    if (!has_folder(folder)) {
        return;
    }
    std::error_code failure;
    for (const std::string& file : part_files(folder, set)) {
        if (!fs::remove(file, failure) && failure) {
            fail_at_part("cannot remove a part of an earlier output", file, failure);
        }
    }
    fs::remove(folder, failure); // only where it is empty
}

PartsRecord record_of_parts(const OutputDataset& output) {
    PartsRecord record{output.parts, {}};
    for (const OutputDataset& part : part_datasets(output)) {
        record.bytes.push_back(File(part.file, File::Mode::update).size());
    }
    return record;
}

void sync_parts(const OutputDataset& output) {
    if (!output.parts.several()) {
        return;
    }
    std::string name;
    for (const OutputDataset& part : part_datasets(output)) {
        File(part.file, File::Mode::update).sync();
        name = part.file;
    }
    sync_folder_of(name);
    sync_folder_of(output.parts.folder);
}

} // namespace runner
