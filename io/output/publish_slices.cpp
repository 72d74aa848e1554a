// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/publish_slices.hpp"

#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/folder_tree.hpp"
#include "io/formats/slice_names.hpp"

#include <cerrno>
#include <cstdio>

#include <unistd.h>

namespace runner {
namespace {

std::string replacing(const std::string& file) { return file + ".replacing"; }
std::string publishing(const std::string& file) { return file + ".publishing"; }

[[noreturn]] void fail_slices(const std::string& what, const std::string& path, int number) {
    throw Error(ExitCode::output, {what, path, errno_text(number), errno_remedy(number)});
}

void sync_names(const std::string& file, RowWriter::Sync sync) {
    if (sync == RowWriter::Sync::yes) {
        sync_folder_of(file);
    }
}

void rename_folder(const std::string& from, const std::string& to, RowWriter::Sync sync) {
    if (std::rename(from.c_str(), to.c_str()) != 0) {
        fail_slices("cannot rename the folder of slices", from, errno);
    }
    sync_names(to, sync);
}

void remove_replaced(const SliceNames& names) {
    for (const std::string& name : names.there()) {
        const std::string path = names.folder() + name;
        if (::unlink(path.c_str()) != 0) {
            fail_slices("cannot remove a slice that is replaced", path, errno);
        }
    }
}

void publish_one(const std::string& from, const std::string& file) {
    if (is_half_published(from, file)) {
        finish_publishing(from, file);
        return;
    }
    const int failure = rename_new(from.c_str(), file.c_str());
    if (failure == EEXIST) {
        throw Error(ExitCode::output,
                    {"cannot give a slice its name", file, "a file of that name has come since",
                     "Move it away, then run the same command again"});
    }
    if (failure != 0) {
        fail_slices("cannot give a slice its name", file, failure);
    }
}

} // namespace

std::string publishing_folder(const std::string& file) {
    if (!SliceNames::of(file)) {
        return "";
    }
    for (const std::string& folder : {replacing(file), publishing(file)}) {
        if (is_there(folder)) {
            return folder;
        }
    }
    return "";
}

void publish_slices(const std::string& partial, const std::string& file, Overwrite overwrite,
                    RowWriter::Sync sync) {
    const bool replaces = is_output_there(file);
    if (replaces && overwrite == Overwrite::no) {
        throw Error(ExitCode::output,
                    {"cannot give the slices their names", file, "slices of such names exist",
                     "Set output.overwrite = true, or name another; the result is in " + partial});
    }
    rename_folder(partial, replaces ? replacing(file) : publishing(file), sync);
    finish_slices(file, sync);
}

void finish_slices(const std::string& file, RowWriter::Sync sync) {
    const std::optional<SliceNames> names = SliceNames::of(file);
    const std::string folder = publishing(file);
    if (is_there(replacing(file))) {
        remove_replaced(*names);
        sync_names(file, sync);
        rename_folder(replacing(file), folder, sync);
    }
    const std::string from = folder + "/";
    for (const std::string& name : files_in(folder)) {
        publish_one(from + name, names->folder() + name);
    }
    sync_names(file, sync);
    sync_names(folder + "/.", sync);
    if (::rmdir(folder.c_str()) != 0) {
        fail_slices("cannot remove the folder of slices", folder, errno);
    }
    sync_names(file, sync);
}

} // namespace runner
