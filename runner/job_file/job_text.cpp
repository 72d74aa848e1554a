// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_text.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "runner/job_file/nearest_file.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

#include <sys/stat.h>

namespace runner {
namespace {

/// A text that somebody wrote, and what messages call it.
struct UserText {
    const std::string& path;
    const std::string& what;

    [[noreturn]] void refuse(const std::string& why, const std::string& try_this) const {
        throw Error(ExitCode::usage, {"cannot read " + what, path, why, try_this});
    }

    [[noreturn]] void refuse_missing(int number) const {
        const std::string near = number == ENOENT ? nearest_files_text(path) : "";
        refuse(errno_text(number), near.empty() ? "Check the path" : near);
    }
};

/// Leaves the file at its beginning.
bool begins_as_hdf5(std::FILE* file) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    std::array<char, signature.size()> head{};
    const std::size_t bytes = std::fread(head.data(), 1, head.size(), file);
    std::rewind(file);
    return std::string_view(head.data(), bytes) == signature;
}

} // namespace

std::string read_job_text(const std::string& path) {
    return read_user_text(path, "the job file", MiB);
}

std::string read_user_text(const std::string& path, const std::string& what,
                           std::int64_t most_bytes) {
    const UserText source{path, what};
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        source.refuse_missing(errno);
    }
    if (S_ISDIR(status.st_mode)) {
        source.refuse("it is a directory", "Name a file in it");
    }
    if (!S_ISREG(status.st_mode)) {
        source.refuse("it is not a regular file",
                      "Every rank reads " + what + ", so save it to a file first");
    }
    const auto close = [](std::FILE* file) { return std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
    if (file == nullptr) {
        source.refuse_missing(errno);
    }
    if (begins_as_hdf5(file.get())) {
        source.refuse("it is an HDF5 file, not text",
                      "To see what it holds: runner inspect " + path +
                          "; to work on it, name it as input.file of a job file (runner init)");
    }
    if (status.st_size > most_bytes) {
        source.refuse("it has " + size_text(status.st_size) + " and may have at most " +
                          size_text(most_bytes),
                      "Check that this is " + what);
    }
    // One byte more than it has, to see a file that grew since it was inspected.
    std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()) != 0) {
        source.refuse(errno_text(errno), "");
    }
    if (static_cast<std::int64_t>(text.size()) > status.st_size) {
        source.refuse("it grows while it is read", "Check that this is " + what);
    }
    return text;
}

} // namespace runner
