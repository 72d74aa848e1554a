// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/own_file.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(ExitCode::output, {"cannot write the file", path, why,
                                   "Move away what has that name, or name another file"});
}

[[noreturn]] void fail_own(const std::string& path, int number) {
    const fs::path folder = fs::path(path).parent_path();
    std::error_code ignored;
    if (number == ENOENT && !folder.empty() && !fs::exists(folder, ignored)) {
        throw Error(ExitCode::output, {"cannot write", path, errno_text(number),
                                       "Make its folder: mkdir -p " + shell_word(folder.string())});
    }
    throw Error(ExitCode::output, {"cannot write", path, errno_text(number), errno_remedy(number)});
}

std::string link_text(const std::string& path) {
    std::error_code failure;
    const fs::path target = fs::read_symlink(path, failure);
    return "it is a symbolic link" + (failure ? "" : " to " + target.string()) +
           ", and no link is followed to what is written";
}

/// Empty for a file that may be written.
std::string why_foreign(const struct stat& status) {
    if (S_ISREG(status.st_mode)) {
        return status.st_nlink <= 1
                   ? ""
                   : fmt::format("it has {} names (hard links), and all of them would change",
                                 status.st_nlink);
    }
    // Nothing is lost in a character device. What it cannot do, open() and write() say, as they do
    // of a folder.
    return S_ISCHR(status.st_mode) || S_ISDIR(status.st_mode)
               ? ""
               : "it is no regular file but a FIFO, a socket or a device";
}

/// The descriptor that /dev/stdout and names like it mean.
std::optional<int> descriptor_named(std::string_view path) {
    if (path == "/dev/stdout") {
        return STDOUT_FILENO;
    }
    if (path == "/dev/stderr") {
        return STDERR_FILENO;
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (path.starts_with(folder)) {
            const std::string_view digits = path.substr(folder.size());
            int number = -1;
            const auto [end, wrong] =
                std::from_chars(digits.data(), digits.data() + digits.size(), number);
            if (wrong == std::errc() && end == digits.data() + digits.size() && number >= 0) {
                return number;
            }
        }
    }
    return std::nullopt;
}

void write_all(int descriptor, std::span<const std::byte> bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t wrote =
            uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
        if (wrote < 0) {
            fail_own(path, errno);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
}

void close_written(Descriptor& file, const std::string& path) {
    // After EINTR Linux has closed the descriptor all the same.
    if (::close(file.release()) != 0 && errno != EINTR) {
        fail_own(path, errno);
    }
}

/// Whether it leads to what is no file and no folder.
bool is_device(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

void write_into(const std::string& path, std::span<const std::byte> bytes) {
    const std::optional<int> named = descriptor_named(path);
    Descriptor device(named ? ::fcntl(*named, F_DUPFD_CLOEXEC, 0) : open_again(path, O_WRONLY));
    if (device.get() < 0) {
        fail_own(path, errno);
    }
    write_all(device.get(), bytes, path);
    close_written(device, path);
}

/// Whether the file holds the beginning of `bytes`: one that a killed process left of the same
/// text. Nothing is lost where it is replaced.
bool is_part_of(const std::string& path, std::span<const std::byte> bytes) {
    std::error_code failure;
    if (!foreign_file(path).empty() || !fs::is_regular_file(fs::symlink_status(path, failure))) {
        return false;
    }
    try {
        const File file(path, File::Mode::read);
        const std::int64_t size = file.size();
        if (size > std::ssize(bytes)) {
            return false;
        }
        std::vector<std::byte> found(static_cast<std::size_t>(size));
        file.read(0, size, found.data());
        return std::equal(found.begin(), found.end(), bytes.begin());
    } catch (const Error&) { // it cannot be read, or changes: it is another's
        return false;
    }
}

/// A new file beside `path`: PATH.partial, or where a file of others has that name, one that
/// nothing has.
std::pair<std::string, int> make_beside(const std::string& path, std::span<const std::byte> bytes) {
    std::string name = path + ".partial";
    if (is_part_of(name, bytes)) {
        (void)::unlink(name.c_str());
    }
    for (int i = 0;; ++i) {
        const int descriptor = open_again(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
        if (descriptor >= 0) {
            return {name, descriptor};
        }
        if (errno != EEXIST) {
            fail_own(path, errno);
        }
        name = fmt::format("{}.{}-{}.partial", path, ::getpid(), i);
    }
}

/// Who owns a file that this process makes beside `path`; the process's user where it can make
/// none.
uid_t owner_beside(const std::string& path) {
    struct stat status {};
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const Descriptor nameless(open_again(folder.empty() ? "." : folder, O_TMPFILE | O_WRONLY));
    if (nameless.get() >= 0 && ::fstat(nameless.get(), &status) == 0) {
        return status.st_uid;
    }
    // A file system without such files, as NFS.
    for (int i = 0;; ++i) {
        const std::string name = fmt::format("{}.{}-{}.owner", path, ::getpid(), i);
        const Descriptor probe(open_again(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW));
        if (probe.get() >= 0) {
            (void)::unlink(name.c_str());
        } else if (errno == EEXIST) {
            continue;
        }
        return probe.get() >= 0 && ::fstat(probe.get(), &status) == 0 ? status.st_uid : ::geteuid();
    }
}

} // namespace

int open_own_file(const std::string& path, int flags) {
    // Not waiting where a FIFO has the name.
    Descriptor file(open_again(path, flags | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0) {
        if (const int failure = errno; failure == ELOOP) {
            refuse(path, link_text(path));
        } else if (failure == ENXIO) { // a FIFO without a reader, a socket
            refuse(path, "it is no regular file");
        } else {
            errno = failure;
        }
        return -1;
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        fail_own(path, errno);
    }
    if (const std::string why = why_foreign(status); !why.empty()) {
        refuse(path, why);
    }
    return file.release();
}

int make_own_file(const std::string& path, int flags) {
    constexpr int most_tries = 100; // somebody makes it again and again
    for (int i = 0; i < most_tries; ++i) {
        const int made = open_own_file(path, flags | O_CREAT | O_EXCL);
        if (made >= 0 || errno != EEXIST) {
            return made;
        }
        Descriptor found(open_own_file(path, flags));
        if (found.get() < 0 && errno != ENOENT) {
            return -1;
        }
        struct stat status {};
        if (found.get() >= 0 && ::fstat(found.get(), &status) == 0 && S_ISCHR(status.st_mode)) {
            return found.release();
        }
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
            return -1;
        }
    }
    errno = EEXIST;
    return -1;
}

std::string foreign_owner(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || status.st_uid == ::geteuid() ||
        status.st_uid == owner_beside(path)) {
        return "";
    }
    return fmt::format("it belongs to another user (uid {})", status.st_uid);
}

std::string foreign_file(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return "";
    }
    return S_ISLNK(status.st_mode) ? link_text(path) : why_foreign(status);
}

bool is_of_others(const std::string& path, std::string_view mark) {
    constexpr std::int64_t most_head = 1 << 14;
    std::error_code failure;
    if (!fs::is_regular_file(fs::symlink_status(path, failure)) ||
        fs::file_size(path, failure) == 0) {
        return false;
    }
    try {
        const File file(path, File::Mode::read);
        std::string head(static_cast<std::size_t>(std::min(file.size(), most_head)), '\0');
        file.read(0, std::ssize(head), reinterpret_cast<std::byte*>(head.data()));
        return head.find(mark) == std::string::npos;
    } catch (const Error&) { // it cannot be read
        return true;
    }
}

bool is_written_into(const std::string& path) {
    if (descriptor_named(path) || is_device(path)) {
        return true;
    }
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
        refuse(path, link_text(path));
    }
    return false;
}

void replace_file(const std::string& path, std::span<const std::byte> bytes, Durable durable) {
    if (is_written_into(path)) {
        return write_into(path, bytes);
    }
    auto [name, descriptor] = make_beside(path, bytes);
    try {
        Descriptor file(descriptor);
        write_all(file.get(), bytes, path);
        if (durable == Durable::yes &&
            uninterrupted([&] { return ::fdatasync(file.get()); }) != 0) {
            fail_own(path, errno);
        }
        close_written(file, path);
        if (std::rename(name.c_str(), path.c_str()) != 0) {
            fail_own(path, errno);
        }
    } catch (...) {
        (void)::unlink(name.c_str());
        throw;
    }
    if (durable == Durable::yes) {
        sync_folder_of(path);
    }
}

} // namespace runner
