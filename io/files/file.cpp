// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/file.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/own_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace runner {
namespace {

// Linux moves at most 2^31 - 4096 bytes a call.
constexpr std::int64_t largest_call = 1 << 30;

// XFS has its number only in the kernel's own headers.
constexpr std::array<long, 4> local_file_systems = {EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                                    TMPFS_MAGIC, 0x58465342};

/// What a file may have in all, where it lies in memory. To reserve space there writes zeros to all
/// of it before the run begins: several seconds for outputs of some ten GiB.
std::optional<std::int64_t> free_memory(int descriptor) {
    struct statfs system {};
    struct stat status {};
    if (::fstatfs(descriptor, &system) != 0 || system.f_type != TMPFS_MAGIC ||
        ::fstat(descriptor, &status) != 0) {
        return std::nullopt;
    }
    if (system.f_blocks == 0) { // it has no limit of its own
        return std::numeric_limits<std::int64_t>::max();
    }
    constexpr std::int64_t held_unit = 512; // of st_blocks
    return static_cast<std::int64_t>(system.f_bavail) * system.f_bsize +
           status.st_blocks * held_unit;
}

/// What reading needs: a descriptor, or why there is none.
struct OpenedToRead {
    int descriptor = -1;
    int failure = 0;     ///< errno
    std::string is_none; ///< no regular file; then `failure` is 0
};

/// Opens a regular file, and waits for nothing else that has the name. What has it is known before,
/// since to open a device may do things, and again afterwards, since it may have been replaced.
OpenedToRead open_to_read(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return {-1, errno, ""};
    }
    if (S_ISDIR(status.st_mode)) {
        return {-1, EISDIR, ""};
    }
    if (std::string is_none = irregular_text(status.st_mode); !is_none.empty()) {
        return {-1, 0, std::move(is_none)};
    }
    int descriptor = open_again(path, O_RDONLY | O_NONBLOCK);
    if (descriptor < 0 && errno == EWOULDBLOCK) { // a file server has a lease, and gives it up
        descriptor = open_again(path, O_RDONLY);
    }
    if (descriptor < 0) {
        return {-1, errno, ""};
    }
    std::string is_none;
    const int failure = ::fstat(descriptor, &status) == 0 ? 0 : errno;
    if (failure == 0) {
        is_none = irregular_text(status.st_mode);
    }
    if (failure != 0 || !is_none.empty()) {
        ::close(descriptor);
        return {-1, failure, std::move(is_none)};
    }
    return {descriptor, 0, ""};
}

std::string at_byte(const std::string& path, std::int64_t offset) {
    return fmt::format("{}, byte {}", path, offset);
}

} // namespace

std::string irregular_text(unsigned mode) {
    switch (mode & static_cast<unsigned>(S_IFMT)) {
    case S_IFREG: return "";
    case S_IFDIR: return "it is a folder";
    case S_IFCHR:
    case S_IFBLK: return "it is a device";
    case S_IFIFO: return "it is a pipe";
    case S_IFSOCK: return "it is a socket";
    default: return "it is no regular file";
    }
}

std::string errno_remedy(int number) {
    switch (number) {
    case ENOSPC: return "Free space there, or write to another file system";
    case EDQUOT: return "Your quota there is used up: free space or ask for more";
    case EFBIG: return "A limit on the size of files stands in the way: see 'ulimit -f'";
    case EIO: return "The storage has a fault: see the system's log, then try again";
    case EACCES:
    case EPERM: return "Check the permissions of the file and its folders";
    case EROFS: return "The file system is mounted read-only: choose another";
    case ENOENT: return "Check the spelling; folders must exist";
    case ENOTDIR: return "A part of the path before the last is a file";
    case EISDIR: return "Name a file in that folder";
    case EMFILE:
    case ENFILE: return "Too many files are open: see 'ulimit -n'";
    case ESTALE: return "The file was replaced or removed on the server: start again";
    default: return "";
    }
}

File::File(std::string path, Mode mode)
    : path_(std::move(path)), code_(mode == Mode::read ? ExitCode::input : ExitCode::output) {
    if (mode == Mode::read) {
        const OpenedToRead opened = open_to_read(path_);
        descriptor_ = opened.descriptor;
        if (!opened.is_none.empty()) {
            throw Error(code_,
                        {"cannot open the file", path_, opened.is_none, "Name a regular file"});
        }
        errno = opened.failure;
    } else {
        descriptor_ =
            mode == Mode::update ? open_own_file(path_, O_RDWR) : make_own_file(path_, O_RDWR);
    }
    if (descriptor_ < 0) {
        const int failure = errno;
        const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
        std::error_code ignored;
        if (mode == Mode::create && failure == ENOENT && !folder.empty() &&
            !std::filesystem::exists(folder, ignored)) {
            throw Error(code_, {"cannot create the file", path_, errno_text(failure),
                                "Make its folder: mkdir -p " + shell_word(folder.string())});
        }
        fail(mode == Mode::create ? "cannot create the file" : "cannot open the file", path_,
             failure);
    }
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)),
      code_(other.code_) {}

File& File::operator=(File&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(code_, other.code_);
    return *this;
}

File::~File() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void File::fail(const std::string& what, const std::string& where, int number) const {
    throw Error(code_, {what, where, errno_text(number), errno_remedy(number)});
}

std::int64_t File::size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
        fail("cannot inspect the file", path_, errno);
    }
    return status.st_size;
}

void File::reserve(std::int64_t offset, std::int64_t bytes) const {
    if (bytes <= 0) {
        return;
    }
    int number = 0;
    if (const std::optional<std::int64_t> free = free_memory(descriptor_)) {
        number = bytes > *free ? ENOSPC : 0;
    } else if (uninterrupted([&] { return ::fallocate(descriptor_, 0, offset, bytes); }) != 0) {
        // Not posix_fallocate, which writes every block where the file system has no such call.
        number = errno;
    }
    if (number != 0 && number != EOPNOTSUPP && number != ENOSYS && number != EINVAL) {
        fail(fmt::format("cannot take the disk space of the file ({} bytes)", bytes), path_,
             number);
    }
}

void File::resize(std::int64_t bytes) const {
    if (uninterrupted([&] { return ::ftruncate(descriptor_, bytes); }) != 0) {
        fail("cannot set the size of the file", path_, errno);
    }
}

bool File::one_writer_at_a_time() const {
    struct statfs status {};
    return ::fstatfs(descriptor_, &status) == 0 &&
           std::find(local_file_systems.begin(), local_file_systems.end(),
                     static_cast<long>(status.f_type)) != local_file_systems.end();
}

void File::read(std::int64_t offset, std::int64_t bytes, std::byte* to) const {
    while (bytes > 0) {
        const auto ask = static_cast<std::size_t>(std::min(bytes, largest_call));
        const ssize_t got = uninterrupted([&] { return ::pread(descriptor_, to, ask, offset); });
        if (got < 0) {
            fail("cannot read", at_byte(path_, offset), errno);
        }
        if (got == 0) {
            throw Error(code_, {"the file is truncated", path_,
                                fmt::format("it has {} bytes and should have at least {}", size(),
                                            offset + bytes),
                                "Copy it again, or make it again"});
        }
        offset += got;
        to += got;
        bytes -= got;
    }
}

void File::read_rows(std::int64_t offset, std::int64_t rows, std::int64_t row, std::byte* to,
                     std::int64_t pitch) const {
    constexpr std::int64_t most = 256; // of Linux' 1024; so many hide the cost of a call
    std::array<iovec, most> places{};
    while (rows > 0) {
        const std::int64_t count =
            std::min({rows, most, std::max<std::int64_t>(1, largest_call / row)});
        for (std::int64_t i = 0; i < count; ++i) {
            places[static_cast<std::size_t>(i)] = {to + i * pitch, static_cast<std::size_t>(row)};
        }
        const ssize_t got = uninterrupted(
            [&] { return ::preadv(descriptor_, places.data(), static_cast<int>(count), offset); });
        const std::int64_t whole = std::max<std::int64_t>(got, 0) / row;
        if (whole < count) { // the rest of a row; or read() says why there is none
            const std::int64_t part = std::max<std::int64_t>(got, 0) % row;
            read(offset + whole * row + part, row - part, to + whole * pitch + part);
        }
        const std::int64_t done = std::min(whole + 1, count);
        offset += done * row;
        to += done * pitch;
        rows -= done;
    }
}

void File::write(std::int64_t offset, std::int64_t bytes, const std::byte* from) const {
    while (bytes > 0) {
        const auto ask = static_cast<std::size_t>(std::min(bytes, largest_call));
        const ssize_t got = uninterrupted([&] { return ::pwrite(descriptor_, from, ask, offset); });
        if (got <= 0) {
            fail("cannot write", at_byte(path_, offset), got == 0 ? ENOSPC : errno);
        }
        offset += got;
        from += got;
        bytes -= got;
    }
}

void File::start_sync() const noexcept {
    // All dirty pages of the file; the call does not take the error that fdatasync is to report.
    (void)::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void File::sync() const {
    if (uninterrupted([&] { return ::fdatasync(descriptor_); }) != 0) {
        fail("cannot bring the file to the disk", path_, errno);
    }
}

void File::close() {
    // After EINTR Linux has closed the descriptor all the same.
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
        fail("cannot close the file", path_, errno);
    }
}

bool is_in_memory(const std::string& folder) {
    struct statfs system {};
    return ::statfs(folder.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

void sync_folder_of(const std::string& path) {
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) {
        folder = ".";
    }
    const int descriptor = open_again(folder, O_RDONLY | O_DIRECTORY);
    if (descriptor < 0) {
        throw Error(ExitCode::output,
                    {"cannot open the folder", folder, errno_text(errno), errno_remedy(errno)});
    }
    const int failure = uninterrupted([&] { return ::fsync(descriptor); }) == 0 ? 0 : errno;
    ::close(descriptor);
    // Some network file systems have no fsync for folders and say EINVAL.
    if (failure != 0 && failure != EINVAL) {
        throw Error(ExitCode::output, {"cannot bring the folder to the disk", folder,
                                       errno_text(failure), errno_remedy(failure)});
    }
}

} // namespace runner
