// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_mark.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace runner {

FileMark mark_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return {};
    }
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    return {status.st_size, status.st_mtim.tv_sec * nanoseconds + status.st_mtim.tv_nsec};
}

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

std::string own_path(const std::string& path) {
    std::error_code failure;
    const std::filesystem::path own =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, failure), failure);
    return failure ? path : own.string();
}

void add_mark(FileMarks& marks, const std::string& path) {
    std::string own = own_path(path);
    const FileMark mark = mark_of(own);
    marks.try_emplace(std::move(own), mark);
}

std::string first_changed(const FileMarks& marks) {
    for (const auto& [path, mark] : marks) {
        if (mark_of(path) != mark) {
            return path;
        }
    }
    return "";
}

} // namespace runner
