// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_mark.hpp"

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

} // namespace runner
