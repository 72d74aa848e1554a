// SPDX-License-Identifier: BSD-3-Clause
// Every file is touched by bare system calls: the C library's are the shim's own.
#include "tests/fault/undo_log.hpp"

#include "tests/fault/rules.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fault {
namespace {

std::atomic<std::int64_t>& next_id() {
    static std::atomic<std::int64_t> id = 1;
    return id;
}

std::atomic<std::int64_t>& data_end() {
    static std::atomic<std::int64_t> end = 0;
    return end;
}

int open_bare(const char* path, int flags) {
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666));
}

long long inode_of(const char* path) {
    struct stat status {};
    return ::lstat(path, &status) == 0 ? static_cast<long long>(status.st_ino) : 0;
}

/// Puts errno back as it was: the log is not there for the program.
class SavedErrno {
  public:
    SavedErrno() : value_(errno) {}
    SavedErrno(const SavedErrno&) = delete;
    SavedErrno& operator=(const SavedErrno&) = delete;
    ~SavedErrno() { errno = value_; }

  private:
    int value_;
};

} // namespace

UndoLog& UndoLog::of_process() {
    static UndoLog log;
    return log;
}

UndoLog::UndoLog() : folder_(std::getenv("FAULT_UNDO")) {
    const char* of = std::getenv("FAULT_UNDO_OF");
    if (folder_ == nullptr || of == nullptr) {
        folder_ = nullptr;
        return;
    }
    of_ = of;
    std::array<char, 4096> path{};
    (void)std::snprintf(path.data(), path.size(), "%s/%d.log", folder_, ::getpid());
    lines_ = open_bare(path.data(), O_WRONLY | O_APPEND | O_CREAT);
    (void)std::snprintf(path.data(), path.size(), "%s/%d.data", folder_, ::getpid());
    data_ = open_bare(path.data(), O_WRONLY | O_CREAT);
    if (lines_ < 0 || data_ < 0) {
        (void)std::fputs("fault shim: cannot write to FAULT_UNDO\n", stderr);
        ::_exit(99);
    }
}

bool UndoLog::follows(std::string_view path) const {
    return folder_ != nullptr && path.starts_with(of_) &&
           (path.size() == of_.size() || path[of_.size()] == '/');
}

bool UndoLog::follows(int descriptor) const {
    std::array<char, 4096> buffer{};
    const SavedErrno saved;
    return folder_ != nullptr && follows(path_of(descriptor, buffer));
}

std::int64_t UndoLog::now() const {
    timespec time{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

void UndoLog::line(const char* format, ...) {
    std::array<char, 9000> text{};
    va_list values;
    va_start(values, format);
    const int length = std::vsnprintf(text.data(), text.size(), format, values);
    va_end(values);
    (void)::syscall(SYS_write, lines_, text.data(), static_cast<std::size_t>(length));
}

std::int64_t UndoLog::saved(int descriptor, off_t offset, std::size_t bytes) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        return 0;
    }
    const off_t there = std::clamp<off_t>(status.st_size - offset, 0, static_cast<off_t>(bytes));
    std::vector<char> old(static_cast<std::size_t>(there));
    // The descriptor may be one for writing only.
    std::array<char, 64> link{};
    (void)std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
    const int readable = open_bare(link.data(), O_RDONLY);
    if (::syscall(SYS_pread64, readable, old.data(), old.size(), offset) != there) {
        (void)std::fputs("fault shim: cannot save what a write replaces\n", stderr);
        ::_exit(99);
    }
    (void)::syscall(SYS_close, readable);
    const std::int64_t at = data_end().fetch_add(there);
    (void)::syscall(SYS_pwrite64, data_, old.data(), old.size(), at);
    const std::int64_t id = next_id()++;
    line("W %lld %lld %lld %lld %lld %lld %lld %lld\n", static_cast<long long>(id),
         static_cast<long long>(now()), static_cast<long long>(status.st_ino),
         static_cast<long long>(offset), static_cast<long long>(bytes),
         static_cast<long long>(status.st_size), static_cast<long long>(at),
         static_cast<long long>(there));
    return id;
}

std::int64_t UndoLog::write_begins(int descriptor, off_t offset, std::size_t bytes) {
    if (!follows(descriptor)) {
        return 0;
    }
    const SavedErrno before;
    if (offset < 0) {
        const int flags = ::fcntl(descriptor, F_GETFL);
        offset = ::lseek(descriptor, 0, (flags & O_APPEND) != 0 ? SEEK_END : SEEK_CUR);
    }
    return offset < 0 ? 0 : saved(descriptor, offset, bytes);
}

void UndoLog::write_ends(std::int64_t id) {
    if (id > 0) {
        const SavedErrno before;
        line("E %lld %lld\n", static_cast<long long>(id), static_cast<long long>(now()));
    }
}

std::int64_t UndoLog::cut_begins(const char* path, off_t length) {
    const SavedErrno before;
    struct stat status {};
    if (::stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= length) {
        return 0;
    }
    const int descriptor = open_bare(path, O_RDONLY);
    const std::int64_t id =
        saved(descriptor, length, static_cast<std::size_t>(status.st_size - length));
    (void)::syscall(SYS_close, descriptor);
    return id;
}

void UndoLog::synced(int descriptor, std::int64_t began, int result) {
    struct stat status {};
    const SavedErrno before;
    if (follows(descriptor) && ::fstat(descriptor, &status) == 0) {
        line("S %lld %lld %d\n", static_cast<long long>(began),
             static_cast<long long>(status.st_ino), result);
    }
}

void UndoLog::keep(const char* path) {
    const SavedErrno before;
    const long long inode = inode_of(path);
    std::array<char, 4096> kept{};
    (void)std::snprintf(kept.data(), kept.size(), "%s/%lld", folder_, inode);
    if (inode != 0) {
        (void)::syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, kept.data(), 0);
    }
}

void UndoLog::changed(std::string_view what, const char* path, const char* to, std::int64_t inode,
                      std::int64_t replaced) {
    const SavedErrno before;
    const std::string_view whole(path);
    std::array<char, 4096> folder{};
    const std::size_t length = std::min(whole.rfind('/'), folder.size() - 1);
    std::copy_n(path, length, folder.begin());
    line("D %lld %lld %lld %.*s %s %s %lld\n", static_cast<long long>(now()),
         inode_of(folder.data()),
         static_cast<long long>(inode != 0 ? inode : inode_of(to[0] != '\0' ? to : path)),
         static_cast<int>(what.size()), what.data(), path, to, static_cast<long long>(replaced));
}

} // namespace fault
