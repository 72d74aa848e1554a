// SPDX-License-Identifier: BSD-3-Clause
#include "io/output/publish_slices.hpp"

#include "base/format.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/folder_tree.hpp"
#include "io/files/own_file.hpp"
#include "io/formats/slice_names.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

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

/// What the list of slices that are replaced begins with.
constexpr std::string_view list_head = "runner slices that are replaced 1\n";

/// How the list has a slice: by name and by what says that it is the same file.
/// No name holds the byte 0.
std::string list_entry(const SliceNames& names, const std::string& name) {
    const FileMark mark = mark_of(names.folder() + name);
    return fmt::format("{} {} {}", mark.bytes, mark.modified, name) + '\0';
}

void write_replaced(const std::string& file, RowWriter::Sync sync) {
    const SliceNames names = *SliceNames::of(file);
    std::string text(list_head);
    for (const std::string& name : names.there()) {
        text += list_entry(names, name);
    }
    File list(replaced_list(file), File::Mode::create);
    list.write(0, std::ssize(text), reinterpret_cast<const std::byte*>(text.data()));
    if (sync == RowWriter::Sync::yes) {
        list.sync();
    }
    list.close();
    sync_names(file, sync);
}

/// The entries of the list; nothing where no list of this program has its name.
std::optional<std::set<std::string>> read_replaced(const std::string& file) {
    const std::string path = replaced_list(file);
    if (!is_there(path) || !foreign_file(path).empty() || !foreign_owner(path).empty()) {
        return std::nullopt;
    }
    const File list(path, File::Mode::read);
    std::string text(static_cast<std::size_t>(list.size()), ' ');
    list.read(0, std::ssize(text), reinterpret_cast<std::byte*>(text.data()));
    if (!text.starts_with(list_head)) {
        return std::nullopt;
    }
    std::set<std::string> entries;
    for (std::size_t at = list_head.size(); at < text.size();) {
        const std::size_t end = std::min(text.find('\0', at), text.size() - 1) + 1;
        entries.insert(text.substr(at, end - at));
        at = end;
    }
    return entries;
}

/// Removes the slices that the list has, as they are there. @throws Error (output), before it
/// removes any, where another file has the name of one: a run may have died in between, and others
/// have put it there since.
void remove_replaced(const std::string& file, const SliceNames& names) {
    const std::set<std::string> entries = read_replaced(file).value_or(std::set<std::string>());
    const std::vector<std::string> there = names.there();
    for (const std::string& name : there) {
        if (!entries.contains(list_entry(names, name))) {
            throw Error(ExitCode::output,
                        {"cannot replace the slices", names.folder() + name,
                         "it has come, or was changed, since a run that died began to replace them",
                         "Move it away, then run the same command again"});
        }
    }
    for (const std::string& name : there) {
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

std::string replaced_list(const std::string& file) { return file + ".replaced"; }

std::vector<std::string> publishing_names(const std::string& file) {
    return {replacing(file), publishing(file), replaced_list(file)};
}

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
    if (replaces) {
        write_replaced(file, sync);
    }
    rename_folder(partial, replaces ? replacing(file) : publishing(file), sync);
    finish_slices(file, sync);
}

void finish_slices(const std::string& file, RowWriter::Sync sync) {
    const std::optional<SliceNames> names = SliceNames::of(file);
    const std::string folder = publishing(file);
    if (is_there(replacing(file))) {
        remove_replaced(file, *names);
        sync_names(file, sync);
        rename_folder(replacing(file), folder, sync);
    }
    if (const std::string list = replaced_list(file); read_replaced(file)) {
        if (::unlink(list.c_str()) != 0) {
            fail_slices("cannot remove the list of slices that were replaced", list, errno);
        }
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
