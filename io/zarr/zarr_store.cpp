// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_store.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/text_file.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

/// The JSON of an array takes some KiB; of a group that lists all of its nodes, more.
constexpr std::int64_t most_metadata = 64 * MiB;

constexpr const char* what_store = "cannot read the Zarr store";

std::string without_slashes(std::string folder) {
    while (folder.size() > 1 && folder.back() == '/') {
        folder.pop_back();
    }
    return folder;
}

bool is_within(const fs::path& folder, const fs::path& path) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
           folder.end();
}

FileMark mark_in(const struct stat& status) {
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    return {status.st_size, status.st_mtim.tv_sec * nanoseconds + status.st_mtim.tv_nsec};
}

/// A chunk that is not stored is of fill values; one behind a broken link is lost.
[[noreturn]] void refuse_broken_link(const fs::path& path) {
    throw Error(ExitCode::input,
                {what_store, path.lexically_normal().string(), "it is a link that leads nowhere",
                 "Bring back what it leads to, or remove the link"});
}

} // namespace

ZarrStore::ZarrStore(std::string folder, const InputRules& rules)
    : folder_(without_slashes(std::move(folder))), real_(fs::weakly_canonical(folder_)),
      outside_(folder_, rules) {
    std::error_code failure;
    if (!fs::is_directory(real_, failure)) {
        throw Error(
            ExitCode::input,
            {what_store, folder_, "it is no folder",
             "Name the folder that holds zarr.json, .zgroup or .zarray; unpack an archive"});
    }
}

fs::path ZarrStore::place(const std::string& name) const { return fs::path(folder_) / name; }

std::optional<std::pair<std::string, FileMark>> ZarrStore::file(const std::string& name) {
    const fs::path path = place(name);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return std::nullopt;
        }
        throw Error(ExitCode::input,
                    {what_store, path.string(), errno_text(errno), errno_remedy(errno)});
    }
    const std::string folder = path.parent_path().string();
    if (folder != checked_folder_) {
        checked_folder_ = folder;
        checked_real_ = fs::canonical(folder);
        if (!is_within(real_, checked_real_)) {
            checked_real_.clear();
        }
    }
    if (!checked_real_.empty() && S_ISREG(status.st_mode)) {
        return std::pair((checked_real_ / path.filename()).string(), mark_in(status));
    }
    // A link, or a folder that one leads to.
    const std::optional<fs::path> allowed =
        outside_.allowed(fs::absolute(path).string(), folder_, path.string());
    if (!allowed) {
        refuse_broken_link(path);
    }
    return std::pair(allowed->string(), mark_of(allowed->string()));
}

std::optional<std::string> ZarrStore::text(const std::string& name) {
    auto found = file(name);
    if (!found) {
        return std::nullopt;
    }
    std::string text = read_text_file(found->first, most_metadata);
    marks_.insert(*std::move(found));
    return text;
}

bool ZarrStore::has_folder(const std::string& name) const {
    std::error_code failure;
    return fs::is_directory(place(name), failure);
}

std::vector<std::string> ZarrStore::names(const std::string& name) const {
    std::vector<std::string> names;
    std::error_code failure;
    fs::directory_iterator entries(place(name), failure);
    if (failure == std::errc::no_such_file_or_directory || failure == std::errc::not_a_directory) {
        if (std::error_code unknown; fs::is_symlink(place(name), unknown)) {
            refuse_broken_link(place(name));
        }
        return names;
    }
    for (; !failure && entries != fs::directory_iterator(); entries.increment(failure)) {
        names.push_back(entries->path().filename().string());
    }
    if (failure) {
        throw Error(ExitCode::input, {what_store, place(name).string(), errno_text(failure.value()),
                                      errno_remedy(failure.value())});
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace runner
