// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/work_folder.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "runner/messages.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace runner::trial {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = "try.lock";

/// What is in a folder, as far as it can be read.
std::vector<fs::path> content_of(const fs::path& folder, std::error_code& failure) {
    std::vector<fs::path> paths;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        paths.push_back(entry->path());
    }
    return paths;
}

/// Whether a process works in the folder: a try, or a run on a part that outlives one.
bool is_in_use(const fs::path& folder) {
    std::error_code failure;
    const std::vector<fs::path> paths = content_of(folder, failure);
    return failure || std::any_of(paths.begin(), paths.end(), [](const fs::path& path) {
               return path.extension() == ".lock" && lock_owner(path.string());
           });
}

/// Leaves the lock, which says whose the folder is. Returns whether all else is gone.
bool remove_content(const fs::path& folder) {
    std::error_code failure;
    bool is_gone = true;
    for (const fs::path& path : content_of(folder, failure)) {
        if (path.filename() == lock_name) {
            continue;
        }
        std::error_code kept;
        fs::remove(path, kept);
        if (kept) { // a folder with content; remove_all() takes a descriptor for a file too
            fs::remove_all(path, kept);
        }
        is_gone = is_gone && !kept;
    }
    return is_gone && !failure;
}

/// Removes folders of this name whose lock says that their process was killed, or has left them.
void remove_left(const fs::path& folder, const std::string& begin) {
    std::error_code ignored; // what cannot be removed does no harm
    for (const fs::path& path : content_of(folder, ignored)) {
        const fs::path lock = path / lock_name;
        if (!path.filename().string().starts_with(begin) ||
            !fs::is_directory(fs::symlink_status(path, ignored)) || is_in_use(path)) {
            continue;
        }
        try {
            if (!fs::is_regular_file(lock, ignored)) {
                (void)::rmdir(path.c_str()); // where it is empty, as a killed process leaves it
                continue;
            }
            auto taken = std::make_unique<FileLock>(lock.string(), owner_text(""));
            if (taken->was_left() && !remove_content(path)) {
                taken->leave();
            }
            taken.reset();
            fs::remove(path, ignored); // where nothing else is in it
        } catch (const Error&) {       // another process took it just now, or it is no lock of ours
        }
    }
}

/// Calls `remove` until it returns true, a few times: what keeps one call from it may pass, such as
/// a lack of descriptors of the whole host.
template <class Remove> bool try_to(const Remove& remove) {
    constexpr int most_tries = 3;
    for (int i = 0; i < most_tries; ++i) {
        if (remove()) {
            return true;
        }
    }
    return false;
}

} // namespace

WorkFolder::WorkFolder(const std::string& output) {
    const fs::path path(output);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const std::string begin = "." + path.stem().string() + ".try-";
    remove_left(folder, begin);
    while (!make((folder / (begin + "XXXXXX")).string())) {
    }
}

bool WorkFolder::make(const std::string& pattern) {
    path_ = pattern;
    if (::mkdtemp(path_.data()) == nullptr) {
        throw Error(ExitCode::output, {"cannot make a folder for the runs on a part", path_,
                                       errno_text(errno), "Check the folder of output.file"});
    }
    try {
        reserve();
        lock_ = std::make_unique<FileLock>(file(lock_name), owner_text(""));
        lock_->sync(); // its text is what says whose the folder is
        return true;
    } catch (...) {
        std::error_code ignored;
        const bool is_there = fs::exists(path_, ignored);
        lock_.reset();
        remove();
        if (is_there) {
            throw;
        }
        return false; // another try took it for one that was left
    }
}

void WorkFolder::reserve() {
    for (Descriptor& descriptor : reserved_) {
        descriptor = Descriptor(open_again(path_, O_RDONLY | O_DIRECTORY));
        if (descriptor.get() < 0) {
            throw Error(ExitCode::output, {"cannot open the folder for the runs on a part", path_,
                                           errno_text(errno), errno_remedy(errno)});
        }
    }
}

WorkFolder::~WorkFolder() { remove(); }

void WorkFolder::remove() noexcept {
    for (Descriptor& descriptor : reserved_) {
        descriptor = Descriptor{-1};
    }
    try {
        const bool is_empty = try_to([&] { return remove_content(path_); });
        const bool keeps_lock = lock_ && !is_empty;
        if (keeps_lock) {
            lock_->leave();
        }
        lock_.reset();
        const auto remove_rest = [&] {
            std::error_code failure;
            fs::remove(file(lock_name), failure); // where it was not made or removed to the end
            fs::remove(path_, failure);
            return !failure;
        };
        if (keeps_lock || !try_to(remove_rest)) {
            tell_warning("cannot remove " + path_ + ": the next try of this output does");
        }
    } catch (const std::exception&) { // no memory for names
        if (lock_) {
            lock_->leave();
        }
    }
}

void WorkFolder::clear() const { remove_content(path_); }

} // namespace runner::trial
