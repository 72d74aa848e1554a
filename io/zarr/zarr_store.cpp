// SPDX-License-Identifier: BSD-3-Clause
#include "io/zarr/zarr_store.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/text_file.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
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

/// Whether a file begins with a member of a .zip, or is one without members.
bool begins_as_archive(const std::string& path) {
    const File file(path, File::Mode::read);
    std::string begin(4, ' ');
    if (file.size() < std::ssize(begin)) {
        return false;
    }
    file.read(0, std::ssize(begin), reinterpret_cast<std::byte*>(begin.data()));
    return begin == "PK\3\4" || begin == "PK\5\6";
}

bool is_metadata(const std::string& name) {
    return name == "zarr.json" || name == ".zgroup" || name == ".zarray" || name == ".zattrs";
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
    if (fs::is_regular_file(real_, failure) && begins_as_archive(real_.string())) {
        archive_.emplace(folder_);
        const std::vector<std::string> there = archive_->names("");
        if (!std::any_of(there.begin(), there.end(), is_metadata)) {
            const bool is_npz = std::any_of(there.begin(), there.end(), [](const auto& name) {
                return name.ends_with(".npy");
            });
            throw Error(ExitCode::input,
                        {what_store, folder_,
                         "the archive has no zarr.json, .zgroup or .zarray at its root",
                         is_npz ? "Unpack it, as by unzip, and name one of the .npy files in it"
                                : "Pack what is in the store's folder: cd x.zarr && zip -0 -r "
                                  "../x.zarr.zip ."});
        }
    } else if (!fs::is_directory(real_, failure)) {
        throw Error(ExitCode::input,
                    {what_store, folder_, "it is no folder, and no .zip",
                     "Name the folder that holds zarr.json, .zgroup or .zarray, or its .zip"});
    }
}

/// The name of a member of the archive. @throws Error (input) for one that leads out of it.
std::string ZarrStore::member(const std::string& name) const {
    const std::string plain = fs::path(name).lexically_normal().generic_string();
    if (plain == ".." || plain.starts_with("../") || plain.starts_with('/')) {
        throw Error(ExitCode::input, {what_store, folder_ + ": " + printable(name),
                                      "the name leads out of the archive",
                                      "Unpack the archive, and look where it leads"});
    }
    const std::size_t end = plain.find_last_not_of('/');
    return plain == "." || end == std::string::npos ? "" : plain.substr(0, end + 1);
}

fs::path ZarrStore::place(const std::string& name) const { return fs::path(folder_) / name; }

/// The name by which the marks have what is not there, or with a slash a folder.
std::string ZarrStore::own_name(const std::string& name) const {
    return (real_ / name).lexically_normal().string();
}

std::optional<StoreFile> ZarrStore::file(const std::string& name) {
    if (archive_) {
        const std::optional<ZipArchive::Extent> found = archive_->find(member(name));
        return found ? std::optional(StoreFile{archive_->path(), archive_->mark(), found->offset,
                                               found->bytes, found->checksum})
                     : std::nullopt;
    }
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
        return StoreFile{(checked_real_ / path.filename()).string(), mark_in(status), 0,
                         status.st_size};
    }
    // A link, or a folder that one leads to.
    std::error_code failure;
    const fs::path target = fs::canonical(path, failure);
    const std::optional<fs::path> allowed =
        failure ? std::nullopt
                : outside_.allowed(target.string(), folder_, path.lexically_normal().string());
    if (!allowed) {
        refuse_broken_link(path);
    }
    const FileMark mark = mark_of(allowed->string());
    return StoreFile{allowed->string(), mark, 0, mark.bytes};
}

std::optional<std::string> ZarrStore::text(const std::string& name) {
    if (archive_) {
        marks_.emplace(archive_->path(), archive_->mark());
        return archive_->text(member(name), most_metadata);
    }
    const std::optional<StoreFile> found = file(name);
    if (!found) {
        marks_.emplace(own_name(name), FileMark{});
        return std::nullopt;
    }
    std::string text = read_text_file(found->path, most_metadata);
    marks_.emplace(found->path, found->mark);
    return text;
}

bool ZarrStore::has_folder(const std::string& name) {
    if (archive_) {
        return archive_->has_folder(member(name));
    }
    std::error_code failure;
    const fs::file_status status = fs::status(place(name), failure);
    if (status.type() == fs::file_type::not_found) {
        marks_.emplace(own_name(name), FileMark{});
    }
    return fs::is_directory(status);
}

bool ZarrStore::has_own_folder(const std::string& name) {
    std::error_code failure;
    return has_folder(name) && (archive_ || !fs::is_symlink(place(name), failure));
}

std::vector<std::string> ZarrStore::names(const std::string& name) {
    if (archive_) {
        return archive_->names(member(name));
    }
    const std::string own = own_name(name + "/");
    marks_.emplace(own, mark_of(own));
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
