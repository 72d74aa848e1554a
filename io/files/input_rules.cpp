// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/input_rules.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr const char* what = "cannot read the dataset";

/// What stands against reading this as a file; empty where nothing does, or nothing is there.
std::string objection(const std::string& file) {
    struct stat status {};
    struct statfs system {};
    if (::stat(file.c_str(), &status) != 0) {
        return "";
    }
    if (std::string kind = irregular_text(status.st_mode); !kind.empty()) {
        return kind;
    }
    if (::statfs(file.c_str(), &system) == 0) {
        const auto type = static_cast<long>(system.f_type);
        if (type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC) {
            return "it is no file but a view of the system";
        }
    }
    return "";
}

bool is_url(const std::string& name) {
    const std::size_t colon = name.find("://");
    return colon != std::string::npos && colon > 0 &&
           std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(colon),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '+'; });
}

} // namespace

OutsideFiles::OutsideFiles(const std::string& file, const InputRules& rules) : rules_(rules) {
    // The folder of the name, and of the file itself where the name is a symbolic link.
    const fs::path path = fs::absolute(file);
    for (const fs::path& folder : {path.parent_path(), fs::canonical(path).parent_path()}) {
        folders_.push_back(fs::canonical(folder));
    }
}

bool OutsideFiles::is_beside(const fs::path& real) const {
    return std::any_of(folders_.begin(), folders_.end(), [&](const fs::path& folder) {
        return std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first ==
               folder.end();
    });
}

std::vector<fs::path> OutsideFiles::places(const std::string& named, const std::string& holder) {
    const fs::path name = named;
    const fs::path relative = name.is_absolute() ? name.filename() : name;
    const fs::path opened = fs::absolute(holder);
    std::error_code failure;
    const fs::path real = fs::canonical(opened, failure);
    std::vector<fs::path> all;
    const auto add = [&all](const fs::path& place) {
        if (std::find(all.begin(), all.end(), place) == all.end()) {
            all.push_back(place);
        }
    };
    if (name.is_absolute()) {
        add(name);
    }
    add(opened.parent_path() / relative);
    if (!failure) {
        add(real.parent_path() / relative);
    }
    add(fs::current_path() / relative);
    return all;
}

void OutsideFiles::add_marks(FileMarks& marks, const std::string& named,
                             const std::string& holder) {
    for (const fs::path& place : places(named, holder)) {
        add_mark(marks, place.string());
        std::error_code failure;
        if (fs::exists(place, failure)) {
            return;
        }
    }
}

std::optional<fs::path> OutsideFiles::allowed(const std::string& named, const std::string& holder,
                                              const std::string& where) const {
    const std::string it = "it leads to " + named;
    if (is_url(named)) {
        throw Error(ExitCode::input, {what, where, it + ", and runner reads no URLs",
                                      "Fetch that file first and name it in the link"});
    }
    for (const fs::path& place : places(named, holder)) {
        std::error_code failure;
        const fs::path real = fs::canonical(place, failure);
        if (failure) {
            continue;
        }
        if (const std::string against = objection(real.string()); !against.empty()) {
            throw Error(ExitCode::input, {what, where, std::string(it).append(": ").append(against),
                                          "Datasets come out of regular files only"});
        }
        if (rules_.outside == InputRules::Outside::beside && !is_beside(real)) {
            throw Error(ExitCode::input, {what, where,
                                          std::string(it).append(", a file outside the folder ") +
                                              folders_[0].string(),
                                          "If you trust the input, set input.allow_external = true "
                                          "(for a verb: --trust-input)"});
        }
        return real;
    }
    return std::nullopt;
}

void OutsideFiles::refuse_clash(const std::string& named, const std::string& holder,
                                const std::string& where) {
    std::error_code failure;
    const fs::path beside = fs::absolute(holder).parent_path() / named;
    const fs::path here = fs::current_path() / named;
    if (fs::path(named).is_absolute() || fs::exists(beside, failure) ||
        !fs::exists(here, failure)) {
        return;
    }
    const fs::path linked = fs::canonical(holder, failure).parent_path() / named;
    if (!failure && fs::exists(linked, failure) && !fs::equivalent(linked, here, failure)) {
        throw Error(ExitCode::input,
                    {what, where,
                     "it leads to " + named + ": HDF5 would read " + here.string() + ", and " +
                         linked.string() + " is beside the file",
                     "Run the program in another folder, or name the file itself instead of the "
                     "symbolic link to it"});
    }
}

void check_regular_file(const std::string& file, const std::string& what_failed) {
    struct stat status {};
    if (is_url(file) && ::stat(file.c_str(), &status) != 0) {
        throw Error(ExitCode::input, {what_failed, file, "runner reads files, no URLs",
                                      "Fetch it first and name the file"});
    }
    if (const std::string against = objection(file); !against.empty()) {
        std::error_code ignored;
        const bool is_folder = fs::is_directory(file, ignored);
        throw Error(ExitCode::input,
                    {what_failed, file, against,
                     is_folder ? "Name a regular file in it, or a stack as in 'folder/*.tif'"
                               : "Name a regular file"});
    }
}

} // namespace runner
