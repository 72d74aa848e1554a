// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file_lock.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"
#include "io/files/own_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace runner {
namespace {

[[noreturn]] void fail(const std::string& path, int number) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code ignored;
    if (number == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored)) {
        throw Error(ExitCode::output, {"cannot take the output's lock", path, errno_text(number),
                                       "Make its folder: mkdir -p " + shell_word(folder.string())});
    }
    throw Error(ExitCode::output,
                {"cannot take the output's lock", path, errno_text(number), errno_remedy(number)});
}

/// How every lock begins, so that no other file of the name is overwritten.
constexpr std::string_view mark = "runner lock: ";

std::string content(int descriptor) {
    std::array<char, 256> text{};
    const ssize_t length =
        uninterrupted([&] { return ::pread(descriptor, text.data(), text.size(), 0); });
    return {text.data(), static_cast<std::size_t>(length > 0 ? length : 0)};
}

/// Also one that is empty, cut short in its mark or of zeros, as a kill or a power cut leaves it:
/// such a file can be taken over, and proves nothing.
bool is_lock(std::string_view text) {
    return text.starts_with(mark) || mark.starts_with(text) ||
           text.find_first_not_of('\0') == std::string_view::npos;
}

std::string owner_in(int descriptor) {
    std::string text = content(descriptor);
    text.resize(std::min(text.find('\n'), text.size()));
    return printable(text.starts_with(mark) ? text.substr(mark.size()) : text);
}

[[noreturn]] void refuse(const std::string& path, int descriptor) {
    std::string line;
    // It may have locked the file just now and not said yet who it is.
    for (int i = 0; i < 100 && line.empty(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 0 : 10));
        line = owner_in(descriptor);
    }
    throw LockHeld(ExitCode::output,
                   {"another run writes this output", path,
                    "it is " + (line.empty() ? std::string("an unknown process") : line),
                    "Wait for it, stop it, or name another output.file"});
}

/// Whether the name still means the open file: its last holder may have removed it since.
bool is_named(const std::string& path, int descriptor) {
    struct stat named {};
    struct stat open {};
    return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

void write_owner(const std::string& path, int descriptor, const std::string& line) {
    bool good = true;
    for (std::size_t at = 0; good && at < line.size();) {
        const ssize_t wrote = uninterrupted([&] {
            return ::pwrite(descriptor, line.data() + at, line.size() - at, static_cast<off_t>(at));
        });
        good = wrote > 0;
        at += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
    }
    // Last: whatever a kill leaves of a lock that was taken over still says that it is one.
    const auto length = static_cast<off_t>(line.size());
    good = good && uninterrupted([&] { return ::ftruncate(descriptor, length); }) == 0;
    if (!good) {
        fail(path, errno);
    }
}

/// The mode of a folder that this process makes beside `path`; 0 where it can make none.
mode_t folder_mode_beside(const std::string& path) {
    struct stat status {};
    const std::string name = fmt::format("{}.{}.folder", path, ::getpid());
    if (::mkdir(name.c_str(), S_IRWXU | S_IRWXG | S_IRWXO) != 0) {
        return 0;
    }
    const bool known = ::lstat(name.c_str(), &status) == 0;
    (void)::rmdir(name.c_str());
    return known ? status.st_mode : 0;
}

} // namespace

std::string lock_path(const std::string& file) { return file + ".lock"; }

FileLock::FileLock(std::string path, const std::string& owner) : path_(std::move(path)) {
    for (;;) {
        Descriptor file{open_own_file(path_, O_RDWR | O_CREAT | O_EXCL)};
        const bool is_new = file.get() >= 0;
        if (!is_new && errno == EEXIST) {
            file = Descriptor(open_own_file(path_, O_RDWR));
            if (file.get() < 0 && errno == ENOENT) {
                continue; // its holder has just removed it
            }
        }
        if (file.get() < 0) {
            fail(path_, errno);
        }
        // A lock of the open file, not of the process: no other close() of the file gives it up.
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        if (uninterrupted([&] { return ::fcntl(file.get(), F_OFD_SETLK, &whole); }) != 0) {
            if (errno == EAGAIN || errno == EACCES) {
                refuse(path_, file.get());
            }
            // ENOLCK, ENOSYS and the like: a file system without locks still has the name.
            constexpr int not_supported = 524; // the kernel's own ENOTSUPP
            if (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP && errno != EINVAL &&
                errno != not_supported) {
                fail(path_, errno);
            }
        }
        if (!is_named(path_, file.get())) {
            continue;
        }
        if (!is_new) {
            const std::string text = content(file.get());
            std::string why = foreign_owner(path_);
            if (why.empty() && !is_lock(text)) {
                why = "it is no lock of this program";
            }
            if (!why.empty()) {
                throw Error(ExitCode::output, {"cannot take the output's lock", path_,
                                               "a file of that name is there, and " + why,
                                               "Move it away, or name another output.file"});
            }
            was_left_ = text.starts_with(mark) && text.find('\n') != std::string::npos;
            was_cut_off_ = !was_left_;
        }
        write_owner(path_, file.get(), std::string(mark) + owner + "\n");
        descriptor_ = file.release();
        return;
    }
}

std::optional<std::string> lock_owner(const std::string& path) {
    const Descriptor file{uninterrupted(
        [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); })};
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (file.get() < 0 ||
        uninterrupted([&] { return ::fcntl(file.get(), F_OFD_GETLK, &whole); }) != 0 ||
        whole.l_type == F_UNLCK) {
        return std::nullopt;
    }
    return owner_in(file.get());
}

FileLock::~FileLock() {
    // Somebody may have moved it away and made another.
    if (!is_left_ && is_named(path_, descriptor_)) {
        (void)::unlink(path_.c_str());
    }
    ::close(descriptor_);
}

std::string FileLock::foreign(const std::string& path) const {
    struct stat lock {};
    struct stat other {};
    if (::lstat(path.c_str(), &other) != 0) {
        return "";
    }
    if (std::string why = foreign_owner(path); !why.empty()) {
        return why;
    }
    constexpr mode_t writers = S_IWGRP | S_IWOTH;
    bool wider = ::fstat(descriptor_, &lock) == 0 && !S_ISLNK(other.st_mode) &&
                 (other.st_mode & writers & ~lock.st_mode) != 0;
    if (wider && S_ISDIR(other.st_mode)) { // a mount may give folders other modes than files
        wider = (other.st_mode & writers & ~folder_mode_beside(path_)) != 0;
    }
    return wider ? fmt::format("others may write to it (mode {:o}), and this program has not made "
                               "it so",
                               other.st_mode & 0777U)
                 : "";
}

void FileLock::sync() const {
    if (uninterrupted([&] { return ::fdatasync(descriptor_); }) != 0) {
        fail(path_, errno);
    }
}

bool is_lock_left(const std::string& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat status {};
    return file.get() >= 0 && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
           is_lock(content(file.get())) && foreign_owner(path).empty() && !lock_owner(path);
}

std::string owner_text(const std::string& host) {
    std::string text = fmt::format("process {} on {}", ::getpid(), host);
    if (const char* job = std::getenv("SLURM_JOB_ID")) {
        text += ", Slurm job " + std::string(job);
    }
    return text;
}

} // namespace runner
