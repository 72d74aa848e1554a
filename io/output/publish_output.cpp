// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/publish_output.hpp"

#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/folder_tree.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/publish_slices.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace runner {
namespace {

[[noreturn]] void fail(const std::string& partial, const std::string& file, int number) {
    if (number == EEXIST) {
        throw Error(ExitCode::output,
                    {"cannot give the output its name", file, "a file of that name exists",
                     "Set output.overwrite = true, or name another; the result is in " + partial});
    }
    if (number == EINVAL && is_folder_output(file)) {
        throw Error(ExitCode::output, {"cannot replace the output", file,
                                       "its file system cannot exchange the names of two folders",
                                       "Remove " + file + ", then run the same command again"});
    }
    throw Error(ExitCode::output,
                {"cannot give the output its name", file, errno_text(number),
                 "The result is in " + partial + ": rename it by hand once that is cleared"});
}

/// A folder cannot be renamed over another one: the two change their names, at once.
int exchange(const char* from, const char* to) {
    return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

} // namespace

void check_replaced(const std::string& file, const std::string& partial) {
    if (!std::filesystem::is_directory(file)) {
        return;
    }
    for (const std::string& name : files_in(file)) {
        if (!folder_output_of(file)->owns(file, name)) {
            throw Error(
                ExitCode::output,
                {"cannot replace the folder", file,
                 "it holds " + printable(name) + ", which no output of this program does",
                 partial.empty() ? "Move it away" : "Move it away; the result is in " + partial});
        }
    }
}

int rename_new(const char* from, const char* to) {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    // A file system without that flag: a second name is as safe against an existing file.
    if (::link(from, to) == 0 || (errno == EEXIST && is_half_published(from, to))) {
        return ::unlink(from) == 0 ? 0 : errno;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) {
        return errno;
    }
    if (::access(to, F_OK) == 0) {
        return EEXIST;
    }
    return std::rename(from, to) == 0 ? 0 : errno;
}

bool is_half_published(const std::string& partial, const std::string& file) {
    struct stat old {};
    struct stat named {};
    return ::lstat(partial.c_str(), &old) == 0 && ::lstat(file.c_str(), &named) == 0 &&
           S_ISREG(old.st_mode) && old.st_nlink == 2 && old.st_dev == named.st_dev &&
           old.st_ino == named.st_ino;
}

void finish_publishing(const std::string& partial, const std::string& file) {
    if (::unlink(partial.c_str()) != 0) {
        throw Error(ExitCode::output, {"cannot remove the output's first name", partial,
                                       errno_text(errno), errno_remedy(errno)});
    }
    sync_folder_of(file);
}

void publish_output(const std::string& partial, const std::string& file, Overwrite overwrite,
                    RowWriter::Sync sync) {
    const bool is_folder = is_folder_output(file);
    if (sync == RowWriter::Sync::yes && is_folder) {
        sync_tree(partial);
    } else if (sync == RowWriter::Sync::yes) {
        File synced(partial, File::Mode::update);
        synced.sync();
        synced.close();
    }
    if (SliceNames::of(file)) {
        publish_slices(partial, file, overwrite, sync);
        return;
    }
    const bool is_exchanged = is_folder && overwrite == Overwrite::yes && is_there(file);
    if (is_exchanged) {
        check_replaced(file, partial);
    }
    const int failure = is_exchanged ? exchange(partial.c_str(), file.c_str())
                        : overwrite == Overwrite::no
                            ? rename_new(partial.c_str(), file.c_str())
                            : (std::rename(partial.c_str(), file.c_str()) == 0 ? 0 : errno);
    if (failure != 0) {
        fail(partial, file, failure);
    }
    if (is_exchanged) {
        if (sync == RowWriter::Sync::yes) {
            sync_folder_of(file);
        }
        remove_tree(partial); // the output that was there before
    }
    if (sync == RowWriter::Sync::yes) {
        sync_folder_of(file);
    }
}

} // namespace runner
