// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/read_files.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/text_file.hpp"
#include "runner/output/identity.hpp"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace runner::output {
namespace {

std::string text_of(const FileMark& mark) {
    return mark.bytes < 0
               ? "not there"
               : fmt::format("{} bytes of {}", mark.bytes, precise_utc_text(mark.modified));
}

/// Whether bytes of it are read.
bool is_read(const std::string& file, const FileMark& mark) {
    return mark.bytes >= 0 && !is_listed_folder(file);
}

/// Without what an earlier pass has made and the files that its identity tells of.
FileMarks files_of_pass(const PreparedJob& prepared, const InputOrigin& origin) {
    FileMarks files = prepared.files;
    for (const FileMarks& others : {prepared.layout.files, origin.files}) {
        for (const auto& [file, mark] : others) {
            files.erase(file);
        }
    }
    files.erase(own_path(origin.file));
    return files;
}

} // namespace

bool is_folder_input(const PreparedJob& prepared) {
    std::error_code failure;
    return std::filesystem::is_directory(prepared.file.input.file, failure);
}

std::vector<std::string> files_of_folder(const PreparedJob& prepared) {
    std::vector<std::string> files;
    if (is_folder_input(prepared)) {
        for (const auto& [file, mark] : prepared.layout.files) {
            if (is_read(file, mark)) {
                files.push_back(file);
            }
        }
    }
    return files;
}

std::vector<std::string> other_files(const PreparedJob& prepared) {
    const JobFile::Input& input = prepared.file.input;
    const std::optional<InputOrigin>& origin = prepared.place.origin;
    FileMarks files = origin ? files_of_pass(prepared, *origin) : prepared.files;
    files.erase(own_path(input.file));
    for (const std::string& file : files_of_folder(prepared)) {
        files.erase(file);
    }
    for (const DatasetLayout& source : prepared.layout.sources) {
        files.erase(own_path(source.holder));
    }
    std::vector<std::string> others;
    for (const auto& [file, mark] : files) {
        if (is_read(file, mark)) {
            others.push_back(file);
        }
    }
    return others;
}

FileMarks files_beside_input(const PreparedJob& prepared) {
    const std::optional<InputOrigin>& origin = prepared.place.origin;
    if (!origin) {
        FileMarks files = prepared.files;
        files.erase(own_path(prepared.file.input.file));
        return files;
    }
    FileMarks files = origin->files;
    files.merge(files_of_pass(prepared, *origin));
    return files;
}

void check_files_unchanged(const PreparedJob& prepared) {
    FileMarks files = prepared.files;
    std::erase_if(files, [](const auto& each) { return is_listed_folder(each.first); });
    if (const std::string file = first_changed(files); !file.empty()) {
        throw Error(
            ExitCode::input,
            {"the input changed while it was read", file,
             "it was " + text_of(prepared.files.at(file)) + " and is " + text_of(mark_of(file)),
             "Let nothing write to it, then restart with run.resume = \"never\""});
    }
}

std::string change_since(const std::string& identity, const FileMark& input) {
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    const std::int64_t within = input.modified % nanoseconds; // 0: a copy may lose it
    if (within != 0 && identity_value(identity, "input.modified") !=
                           fmt::format("{} s {} ns", input.modified / nanoseconds, within)) {
        return "it was written again within the same second";
    }
    const std::string changed = first_changed(sources_of(identity));
    return changed.empty() ? "" : changed + ", which it is made of, has changed";
}

} // namespace runner::output
