// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/replacing.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/file_signature.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/part_files.hpp"
#include "runner/probe/probed_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>
#include <variant>
#include <vector>

namespace runner::output {
namespace {

namespace fs = std::filesystem;

constexpr const char* what = "cannot replace the file";
constexpr const char* way_on = "Move the file away, or name another output.file";

/// What an HDF5 file holds, and what it says that this program put there.
struct Holdings {
    std::vector<std::string> names;
    std::string made;
    std::string between; ///< between_attribute
};

Holdings holdings_of(const std::string& file, Prober& prober) {
    ProbedFiles files(prober, {});
    Holdings found;
    found.names = files.object_names(file);
    for (const auto& [name, value] : files.root_attributes(file)) {
        const auto* text = std::get_if<std::string>(&value);
        if (name == objects_attribute && text != nullptr) {
            found.made = *text;
        } else if (name == between_attribute && text != nullptr) {
            found.between = *text;
        }
    }
    return found;
}

/// Refuses a file of a format that others write too, where nothing says that it is ours.
void check_made_here(const std::string& file) {
    const RowsFormat* const format = rows_format_of(file);
    const WrittenFormat* const written = format == nullptr ? nullptr : written_in(*format, file);
    if (written != nullptr && written->unknown == WrittenFormat::Unknown::kept &&
        !identity_beside(file) && !identity_in_journal(file)) {
        const std::string path = beside_record_path(file);
        throw Error(ExitCode::output,
                    {what, file,
                     std::string("no record ") + (path.starts_with(file + "/") ? "in" : "beside") +
                         " it (" + path + ") says that this program made it as it is",
                     way_on});
    }
}

} // namespace

std::optional<std::string> first_foreign_object(std::span<const std::string> names,
                                                const std::string& made) {
    std::set<std::string> known = {std::string("/@") + objects_attribute};
    std::istringstream lines(made);
    for (std::string line; std::getline(lines, line);) {
        known.insert(line);
    }
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return !known.contains(name); });
    return found == names.end() ? std::nullopt : std::optional(*found);
}

void check_replaceable(const std::string& file, Prober& prober) {
    if (!is_output_there(file)) {
        return;
    }
    bool is_hdf5 = false;
    Holdings found;
    try {
        is_hdf5 = !is_folder_output(file) && has_hdf5_signature(File(file, File::Mode::read));
        if (is_hdf5) {
            found = holdings_of(file, prober);
        }
    } catch (const Error& error) {
        if (error.code() == ExitCode::launch || error.code() == ExitCode::stopped) {
            throw;
        }
        throw Error(ExitCode::output, {what, file,
                                       "it cannot be read, so nobody knows what would be lost: " +
                                           error.text().what + ": " + error.text().why,
                                       way_on});
    }
    if (!is_hdf5) {
        check_made_here(file);
        return;
    }
    if (const auto foreign = first_foreign_object(found.names, found.made)) {
        throw Error(ExitCode::output, {what, file,
                                       "it holds " + printable(*foreign) +
                                           ", which this program did not make and which would be "
                                           "lost",
                                       way_on});
    }
}

bool is_between_passes_of(const std::string& of_job, const std::string& file, Prober& prober) {
    try {
        const Holdings found = holdings_of(file, prober);
        return found.between == fs::path(of_job).filename() &&
               !first_foreign_object(found.names, found.made);
    } catch (const Error& error) {
        if (error.code() == ExitCode::launch || error.code() == ExitCode::stopped) {
            throw;
        }
        return false;
    }
}

void check_replaceable_parts(const std::string& output, std::optional<int> parts_set,
                             Prober& prober) {
    if (parts_set) {
        for (const std::string& part : part_files(parts_folder(output), parts_set)) {
            check_replaceable(part, prober);
        }
    }
}

void check_place(const std::string& path, PlaceOf kind) {
    std::error_code failure;
    const fs::file_type type = fs::status(path, failure).type();
    const fs::file_type wanted =
        kind == PlaceOf::file ? fs::file_type::regular : fs::file_type::directory;
    if (type == wanted || type == fs::file_type::not_found || type == fs::file_type::none) {
        return;
    }
    const std::string is = type == fs::file_type::directory ? "it is a folder"
                           : kind == PlaceOf::folder        ? "it is not a folder"
                                                            : "it is not a regular file";
    throw Error(ExitCode::output, {"cannot write the output", path, is,
                                   "Remove or rename it, or name another output.file"});
}

void check_output_place(const std::string& output) {
    const std::optional<SliceNames> slices = SliceNames::of(output);
    for (const std::string& name : slices ? slices->there() : std::vector<std::string>()) {
        check_place(slices->folder() + name, PlaceOf::file);
    }
    if (!slices) {
        check_place(output, is_folder_output(output) ? PlaceOf::folder : PlaceOf::file);
    }
}

void check_places_beside(const std::string& output) {
    check_place(partial_name(output), is_folder_output(output) ? PlaceOf::folder : PlaceOf::file);
    check_place(journal_folder(output), PlaceOf::folder);
    if (is_recorded_beside(output)) {
        check_place(beside_record_path(output), PlaceOf::file);
        check_beside_record(output);
    }
}

} // namespace runner::output
