// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/earlier_parts.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/file_signature.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/part_files.hpp"
#include "runner/output/replacing.hpp"
#include "runner/probe/probed_files.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <variant>

namespace runner {
namespace {

namespace fs = std::filesystem;

/// Of the file under the output's name; nothing where it is none, or no output in parts.
std::optional<int> set_of_output(const std::string& file, Prober& prober) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) {
        return std::nullopt;
    }
    try {
        if (!has_hdf5_signature(File(file, File::Mode::read))) {
            return std::nullopt;
        }
        ProbedFiles files(prober, {});
        for (const auto& [name, value] : files.root_attributes(file)) {
            const auto* text = std::get_if<std::string>(&value);
            if (name == parts_attribute && text != nullptr) {
                const std::optional<PartsRecord> record = parts_record_from_text(*text);
                return record ? std::optional(record->layout.set) : std::nullopt;
            }
        }
    } catch (const Error& error) {
        if (error.code() == ExitCode::launch || error.code() == ExitCode::stopped) {
            throw;
        }
    }
    return std::nullopt; // what cannot be read is settle_output()'s to judge
}

void refuse_input(const PreparedJob& prepared, const std::string& part) {
    std::error_code ignored;
    bool is_read = fs::equivalent(prepared.file.input.file, part, ignored);
    for (const DatasetLayout& source : prepared.layout.sources) {
        is_read = is_read || fs::equivalent(source.holder, part, ignored);
    }
    if (is_read) {
        throw Error(ExitCode::usage, {"the input is a part of the output", part,
                                      "it is removed once the output is made",
                                      "Name another output.file, or copy the input"});
    }
}

void refuse_foreign(const std::string& path, const std::string& why) {
    if (!why.empty()) {
        throw Error(ExitCode::output, {"cannot use the folder of the output's parts", path, why,
                                       "Move or remove that folder, or name another output.file"});
    }
}

} // namespace

bool concerns_parts(const PreparedJob& prepared) {
    return prepared.file.output.parts.value_or(2) > 1 || prepared.parts_set.has_value() ||
           parts_in_journal(prepared.file.output.file).has_value();
}

void settle_parts(PreparedJob& prepared, const FileLock& lock, Prober& prober) {
    const std::string& output = prepared.file.output.file;
    prepared.parts_set = set_of_output(output, prober);
    if (!concerns_parts(prepared)) {
        return;
    }
    const bool known = has_left_parts(output, lock);
    if (!prepared.parts_set) {
        refuse_foreign(parts_folder(output), lock.foreign(parts_folder(output)));
    }
    for (const std::string& part : part_files(parts_folder(output))) {
        refuse_input(prepared, part);
        const std::optional<int> set = set_of_part_name(fs::path(part).filename().string());
        if (set == prepared.parts_set) {
            continue;
        }
        refuse_foreign(part, known ? lock.foreign(part)
                                   : "it is a part of no output that is here, and no run of this "
                                     "program left it: neither a journal nor a lock stands beside "
                                     "it");
    }
}

void remove_other_parts(const PreparedJob& prepared, std::optional<int> kept) {
    const std::string folder = parts_folder(prepared.file.output.file);
    if (kept) {
        remove_parts(folder, 1 - *kept);
    } else {
        remove_parts(folder);
    }
}

void check_replaceable_parts(const PreparedJob& prepared, Prober& prober) {
    if (prepared.parts_set) {
        for (const std::string& part :
             part_files(parts_folder(prepared.file.output.file), prepared.parts_set)) {
            check_replaceable(part, prober);
        }
    }
}

} // namespace runner
