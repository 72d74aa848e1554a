// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_text.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/file_signature.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <vector>

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

std::string text_of(const File& file, const UserText& source, std::int64_t most_bytes) {
    if (has_hdf5_signature(file)) {
        source.refuse("it is an HDF5 file, not text",
                      "To see what it holds: runner inspect " + shell_word(source.path) +
                          "; to work on it, name it as input.file of a job file (runner init)");
    }
    const std::int64_t bytes = file.size();
    if (bytes > most_bytes) {
        source.refuse("it has " + size_text(bytes) + " and may have at most " +
                          size_text(most_bytes),
                      "Check that this is " + source.what);
    }
    std::string text(static_cast<std::size_t>(bytes), '\0');
    file.read(0, bytes, reinterpret_cast<std::byte*>(text.data()));
    if (file.size() > bytes) {
        source.refuse("it grows while it is read", "Check that this is " + source.what);
    }
    return text;
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
    if (const std::string kind = irregular_text(status.st_mode); !kind.empty()) {
        source.refuse(kind + ", not a regular file",
                      "Every rank reads " + what + ", so save it to a file first");
    }
    try {
        return text_of(File(path, File::Mode::read), source, most_bytes);
    } catch (const Error& error) {
        if (error.code() == ExitCode::usage) {
            throw;
        }
        source.refuse(error.text().why, "Check the path");
    }
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listed = 5;
constexpr std::size_t most_looked_at = 10000; // a folder of a data store has millions

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end;
         !failure && entry != end && names.size() < most_looked_at; entry.increment(failure)) {
        names.push_back(entry->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Where a relative name was looked up.
std::string searched_text(const fs::path& wanted) {
    std::error_code failure;
    const fs::path here = fs::current_path(failure);
    return wanted.is_absolute() || failure
               ? ""
               : "; names are relative to the working directory, " + here.string();
}

} // namespace

std::string home_text(const std::string& path) {
    const char* const home = std::getenv("HOME");
    if (!path.starts_with("~/")) {
        return "";
    }
    return "A ~ in a name is not expanded" +
           (home == nullptr ? "" : ": write " + (fs::path(home) / path.substr(2)).string());
}

std::string nearest_files_text(const std::string& path) {
    const fs::path wanted(path);
    const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
    std::error_code failure;
    if (std::string text = home_text(path); !text.empty()) {
        return text;
    }
    if (!fs::is_directory(folder, failure)) {
        return "There is no folder " + folder.string() + searched_text(wanted);
    }
    const auto shown = [&](const std::string& name) {
        return (wanted.has_parent_path() ? folder / name : fs::path(name)).string();
    };
    const std::vector<std::string> names = names_in(folder);
    if (const auto near = nearest_name(wanted.filename().string(), names)) {
        return "Did you mean " + shown(*near) + "?";
    }
    std::string text;
    std::size_t listed = 0;
    for (const std::string& name : names) {
        if (wanted.has_extension() && fs::path(name).extension() == wanted.extension()) {
            if (listed == most_listed) {
                text += ", …";
                break;
            }
            text += (listed++ == 0 ? "There is " : ", ") + shown(name);
        }
    }
    return text.empty() && wanted.is_relative() ? "Check the spelling" + searched_text(wanted)
                                                : text;
}

} // namespace runner
