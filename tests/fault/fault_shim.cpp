// SPDX-License-Identifier: BSD-3-Clause
// For LD_PRELOAD: system calls that fail, fall short, come late or end the process where the
// environment says so (rules.hpp), and a log that tells what a power cut may undo (undo_log.hpp).
#include "tests/fault/rules.hpp"
#include "tests/fault/undo_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using fault::Action;
using fault::pick;
using fault::Rule;
using fault::UndoLog;

template <class F> F* real(const char* name) {
    return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

/// Whether the call is to fail, with errno set.
bool fails(const Rule* rule) {
    if (rule == nullptr || rule->action != Action::fail) {
        return false;
    }
    errno = static_cast<int>(rule->number);
    return true;
}

bool fails(const char* function, const char* path, int descriptor = -1, std::size_t bytes = 0) {
    return fails(pick(function, path, descriptor, bytes));
}

template <class Call>
ssize_t reading(const char* function, int descriptor, std::size_t bytes, const Call& call) {
    const Rule* rule = pick(function, nullptr, descriptor, bytes);
    if (fails(rule)) {
        return -1;
    }
    if (rule != nullptr && rule->action == Action::eof) {
        return 0;
    }
    return call(rule != nullptr && rule->action == Action::half ? (bytes + 1) / 2 : bytes);
}

template <class Call>
ssize_t writing(const char* function, int descriptor, std::size_t bytes, off_t offset,
                const Call& call) {
    const Rule* rule = pick(function, nullptr, descriptor, bytes);
    if (fails(rule)) {
        return -1;
    }
    const bool half =
        rule != nullptr && (rule->action == Action::half || rule->action == Action::torn);
    const std::size_t ask = half ? (bytes + 1) / 2 : bytes;
    UndoLog& undo = UndoLog::of_process();
    const std::int64_t id = undo.write_begins(descriptor, offset, ask);
    const ssize_t result = call(ask);
    undo.write_ends(id);
    if (rule != nullptr && rule->action == Action::torn) {
        fault::kill_process();
    }
    return result;
}

template <class Call> int syncing(const char* function, int descriptor, const Call& call) {
    UndoLog& undo = UndoLog::of_process();
    const std::int64_t began = undo.now();
    const int result = fails(function, nullptr, descriptor) ? -1 : call();
    undo.synced(descriptor, began, result);
    return result;
}

/// What the path is from the root on.
std::string absolute(int folder, const char* path) {
    if (path[0] == '/') {
        return path;
    }
    std::array<char, 4096> buffer{};
    if (folder != AT_FDCWD) {
        return std::string(fault::path_of(folder, buffer)) + "/" + path;
    }
    const char* here = ::getcwd(buffer.data(), buffer.size());
    std::string relative(path);
    while (relative.starts_with("./")) {
        relative.erase(0, 2);
    }
    return std::string(here == nullptr ? "" : here) + "/" + relative;
}

/// A call that takes away `path`, or puts it where `to` says, and tells the log.
template <class Call>
int naming(const char* function, const char* what, const std::string& path, const std::string& to,
           const Call& call) {
    if (fails(function, path.c_str())) {
        return -1;
    }
    UndoLog& undo = UndoLog::of_process();
    if (!undo.follows(path) && !undo.follows(to)) {
        return call();
    }
    struct stat status {};
    struct stat replaced {};
    const int before = errno;
    const bool there = ::lstat(path.c_str(), &status) == 0;
    const bool replaces = !to.empty() && ::lstat(to.c_str(), &replaced) == 0;
    errno = before;
    const bool goes = std::string_view(what) == "unlink";
    if (goes) {
        undo.keep(path.c_str());
    } else if (!to.empty()) {
        undo.keep(to.c_str());
    }
    const int result = call();
    if (result == 0) {
        undo.changed(there && S_ISDIR(status.st_mode) && goes ? "rmdir" : what, path.c_str(),
                     to.c_str(), there ? static_cast<std::int64_t>(status.st_ino) : 0,
                     replaces ? static_cast<std::int64_t>(replaced.st_ino) : 0);
    }
    return result;
}

template <class Call> int opening(int folder, const char* path, int flags, const Call& call) {
    if (fails("open", path) || ((flags & O_CREAT) != 0 && fails("create", path))) {
        return -1;
    }
    UndoLog& undo = UndoLog::of_process();
    const std::string whole = (flags & (O_CREAT | O_TRUNC)) != 0 ? absolute(folder, path) : "";
    if (!undo.follows(whole)) {
        return call();
    }
    const int before = errno;
    const bool there = ::access(whole.c_str(), F_OK) == 0;
    errno = before;
    const std::int64_t id = (flags & O_TRUNC) != 0 ? undo.cut_begins(whole.c_str(), 0) : 0;
    const int descriptor = call();
    undo.write_ends(id);
    if (descriptor >= 0 && !there) {
        undo.changed("create", whole.c_str(), "", 0, 0);
    }
    return descriptor;
}

mode_t mode_of(int flags, va_list values) {
    return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(values, mode_t) : 0;
}

bool is_lock(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
           command == F_OFD_SETLKW;
}

} // namespace

extern "C" {

ssize_t read(int descriptor, void* to, size_t bytes) {
    static auto* const next = real<decltype(read)>("read");
    return reading("read", descriptor, bytes,
                   [&](size_t ask) { return next(descriptor, to, ask); });
}

ssize_t pread(int descriptor, void* to, size_t bytes, off_t offset) {
    static auto* const next = real<decltype(pread)>("pread");
    return reading("pread", descriptor, bytes,
                   [&](size_t ask) { return next(descriptor, to, ask, offset); });
}

ssize_t pread64(int descriptor, void* to, size_t bytes, off64_t offset) {
    return pread(descriptor, to, bytes, offset);
}

ssize_t write(int descriptor, const void* from, size_t bytes) {
    static auto* const next = real<decltype(write)>("write");
    return writing("write", descriptor, bytes, -1,
                   [&](size_t ask) { return next(descriptor, from, ask); });
}

ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t offset) {
    static auto* const next = real<decltype(pwrite)>("pwrite");
    return writing("pwrite", descriptor, bytes, offset,
                   [&](size_t ask) { return next(descriptor, from, ask, offset); });
}

ssize_t pwrite64(int descriptor, const void* from, size_t bytes, off64_t offset) {
    return pwrite(descriptor, from, bytes, offset);
}

int fsync(int descriptor) {
    static auto* const next = real<decltype(fsync)>("fsync");
    return syncing("fsync", descriptor, [&] { return next(descriptor); });
}

int fdatasync(int descriptor) {
    static auto* const next = real<decltype(fdatasync)>("fdatasync");
    return syncing("fdatasync", descriptor, [&] { return next(descriptor); });
}

int close(int descriptor) {
    static auto* const next = real<decltype(close)>("close");
    const Rule* rule = pick("close", nullptr, descriptor, 0);
    const int result = next(descriptor); // Linux closes, whatever it says
    return fails(rule) ? -1 : result;
}

int open(const char* path, int flags, ...) {
    static auto* const next = real<decltype(open)>("open");
    va_list values;
    va_start(values, flags);
    const mode_t mode = mode_of(flags, values);
    va_end(values);
    return opening(AT_FDCWD, path, flags, [&] { return next(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
    va_list values;
    va_start(values, flags);
    const mode_t mode = mode_of(flags, values);
    va_end(values);
    return open(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
    static auto* const next = real<decltype(openat)>("openat");
    va_list values;
    va_start(values, flags);
    const mode_t mode = mode_of(flags, values);
    va_end(values);
    return opening(folder, path, flags, [&] { return next(folder, path, flags, mode); });
}

int rename(const char* from, const char* to) noexcept {
    static auto* const next = real<decltype(rename)>("rename");
    return naming("rename", "rename", absolute(AT_FDCWD, from), absolute(AT_FDCWD, to),
                  [&] { return next(from, to); });
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
    static auto* const next = real<decltype(renameat2)>("renameat2");
    if (flags != 0 && fails("rename_new", absolute(from_folder, from).c_str())) {
        return -1;
    }
    return naming("rename", "rename", absolute(from_folder, from), absolute(to_folder, to),
                  [&] { return next(from_folder, from, to_folder, to, flags); });
}

int link(const char* from, const char* to) noexcept {
    static auto* const next = real<decltype(link)>("link");
    return naming("link", "link", absolute(AT_FDCWD, from), absolute(AT_FDCWD, to),
                  [&] { return next(from, to); });
}

int unlink(const char* path) noexcept {
    static auto* const next = real<decltype(unlink)>("unlink");
    return naming("unlink", "unlink", absolute(AT_FDCWD, path), "", [&] { return next(path); });
}

int unlinkat(int folder, const char* path, int flags) noexcept {
    static auto* const next = real<decltype(unlinkat)>("unlinkat");
    return naming("unlink", "unlink", absolute(folder, path), "",
                  [&] { return next(folder, path, flags); });
}

int rmdir(const char* path) noexcept {
    static auto* const next = real<decltype(rmdir)>("rmdir");
    return naming("unlink", "unlink", absolute(AT_FDCWD, path), "", [&] { return next(path); });
}

int remove(const char* path) noexcept {
    static auto* const next = real<decltype(remove)>("remove");
    return naming("unlink", "unlink", absolute(AT_FDCWD, path), "", [&] { return next(path); });
}

int mkdir(const char* path, mode_t mode) noexcept {
    static auto* const next = real<decltype(mkdir)>("mkdir");
    return naming("mkdir", "mkdir", absolute(AT_FDCWD, path), "", [&] { return next(path, mode); });
}

int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
    static auto* const next = real<decltype(fallocate)>("fallocate");
    if (fails("fallocate", nullptr, descriptor, static_cast<size_t>(bytes))) {
        return -1;
    }
    UndoLog& undo = UndoLog::of_process();
    const std::int64_t id = undo.write_begins(descriptor, offset, 0); // its length may change
    const int result = next(descriptor, mode, offset, bytes);
    undo.write_ends(id);
    return result;
}

int ftruncate(int descriptor, off_t length) noexcept {
    static auto* const next = real<decltype(ftruncate)>("ftruncate");
    if (fails("ftruncate", nullptr, descriptor, static_cast<size_t>(length))) {
        return -1;
    }
    UndoLog& undo = UndoLog::of_process();
    struct stat status {};
    std::int64_t id = 0;
    if (undo.follows(descriptor) && ::fstat(descriptor, &status) == 0) {
        const off_t gone = std::max<off_t>(status.st_size - length, 0);
        id = undo.write_begins(descriptor, length, static_cast<size_t>(gone));
    }
    const int result = next(descriptor, length);
    undo.write_ends(id);
    return result;
}

void* mmap(void* at, size_t bytes, int protection, int flags, int descriptor,
           off_t offset) noexcept {
    static auto* const next = real<decltype(mmap)>("mmap");
    return fails("mmap", nullptr, descriptor, bytes)
               ? MAP_FAILED
               : next(at, bytes, protection, flags, descriptor, offset);
}

int flock(int descriptor, int operation) noexcept {
    static auto* const next = real<decltype(flock)>("flock");
    return fails("lock", nullptr, descriptor) ? -1 : next(descriptor, operation);
}

int fcntl(int descriptor, int command, ...) {
    static auto* const next = real<decltype(fcntl)>("fcntl");
    va_list values;
    va_start(values, command);
    void* const value = va_arg(values, void*);
    va_end(values);
    return is_lock(command) && fails("lock", nullptr, descriptor)
               ? -1
               : next(descriptor, command, value);
}

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[],
                char* const environment[]) {
    static auto* const next = real<decltype(posix_spawn)>("posix_spawn");
    return fails("spawn", path) ? errno
                                : next(child, path, actions, attributes, arguments, environment);
}

} // extern "C"
