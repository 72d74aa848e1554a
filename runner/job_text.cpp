// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_text.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "runner/nearest_file.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>

#include <sys/stat.h>

namespace runner {
namespace {

constexpr std::int64_t most_bytes = MiB;

[[noreturn]] void refuse(const std::string& path, const std::string& why,
                         const std::string& try_this) {
    throw Error(ExitCode::usage, {"cannot read the job file", path, why, try_this});
}

[[noreturn]] void refuse_missing(const std::string& path, int number) {
    const std::string near = number == ENOENT ? nearest_files_text(path) : "";
    refuse(path, errno_text(number), near.empty() ? "Check the path" : near);
}

} // namespace

std::string read_job_text(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        refuse_missing(path, errno);
    }
    if (S_ISDIR(status.st_mode)) {
        refuse(path, "it is a directory", "Name a file in it");
    }
    if (!S_ISREG(status.st_mode)) {
        refuse(path, "it is not a regular file",
               "Every rank reads the job file, so save it to a file first");
    }
    if (status.st_size > most_bytes) {
        refuse(path,
               "it has " + size_text(status.st_size) + " and a job file has at most " +
                   size_text(most_bytes),
               "Check that this is a job file");
    }
    const auto close = [](std::FILE* file) { return std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
    if (file == nullptr) {
        refuse_missing(path, errno);
    }
    // One byte more than allowed, to see a file that grew since it was looked at.
    std::string text(static_cast<std::size_t>(most_bytes) + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()) != 0) {
        refuse(path, errno_text(errno), "");
    }
    if (static_cast<std::int64_t>(text.size()) > most_bytes) {
        refuse(path, "it grows while it is read", "Check that this is a job file");
    }
    return text;
}

} // namespace runner
