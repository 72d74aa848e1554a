// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/what_is_there.hpp"

#include "base/error.hpp"
#include "io/files/file.hpp"
#include "io/files/file_signature.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/part_files.hpp"
#include "io/rows/output_parts.hpp"
#include "io/writers/record_seal.hpp"
#include "runner/output/complete_output.hpp"
#include "runner/output/identity.hpp"
#include "runner/probe/probed_files.hpp"

#include <filesystem>
#include <optional>
#include <system_error>
#include <variant>

namespace runner::output {
namespace {

namespace fs = std::filesystem;

constexpr const char* dataset_key = "output.dataset";

OutputStanding compared(const std::string& was, const std::string& is) {
    if (was == is) {
        return {Standing::done, ""};
    }
    return {Standing::stale, identity_difference(was, is), only_input_differs(was, is)};
}

std::optional<std::string> identity_of_record(const std::string& file) {
    const std::optional<std::string> beside = identity_beside(file);
    return beside ? beside : identity_in_journal(file);
}

OutputStanding standing_beside(const PreparedJob& prepared, const std::string& identity) {
    if (const auto was = identity_of_record(prepared.file.output.file)) {
        return compared(*was, identity);
    }
    return {Standing::foreign, "nothing is known of how this file was made: its record is missing, "
                               "damaged or of another file"};
}

std::optional<std::string> stored_identity(const AttributeList& record) {
    for (const auto& [name, value] : record) {
        const auto* text = std::get_if<std::string>(&value);
        if (name == identity_attribute && text != nullptr) {
            return *text;
        }
    }
    return std::nullopt;
}

/// Which names the parts have of the file under the output's name; nothing where it is no output in
/// parts.
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
    return std::nullopt; // what cannot be read is standing_of()'s to judge
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

bool says_how_it_was_made(const std::string& file, Prober& prober) {
    if (is_recorded_beside(file)) {
        return identity_of_record(file).has_value();
    }
    try {
        ProbedFiles files(prober, {});
        return stored_identity(files.root_attributes(file)).has_value();
    } catch (const Error& error) {
        if (error.code() == ExitCode::launch || error.code() == ExitCode::stopped) {
            throw;
        }
        return false;
    }
}

OutputStanding standing_of(const PreparedJob& prepared, const std::string& identity,
                           Prober& prober) {
    const std::string& file = prepared.file.output.file;
    ProbedFiles files(prober, {});
    if (!is_output_there(file)) {
        return {};
    }
    if (is_recorded_beside(file)) {
        return standing_beside(prepared, identity);
    }
    OutputStanding found;
    try {
        const AttributeList record = files.root_attributes(file);
        if (const std::optional<std::string> was = stored_identity(record)) {
            if (identity_value(*was, dataset_key) != identity_value(identity, dataset_key)) {
                return compared(without_layout(*was), identity); // and has no such checksums
            }
            if (const std::string damage =
                    record_damage(files, file, record, datasets_with_checksums(prepared));
                !damage.empty()) {
                return {Standing::foreign, "its record is damaged: " + damage};
            }
            found = compared(without_layout(*was), identity);
            if (found.standing == Standing::done && parts_of_identity(*was)) {
                found.lacks_parts = true;
                (void)files.layout(file, prepared.file.output.dataset); // its parts are there
                found.lacks_parts = false;
            }
            return found;
        }
        return {Standing::foreign, "it is no finished output of this program"};
    } catch (const Error& error) {
        if (error.code() == ExitCode::launch || error.code() == ExitCode::stopped) {
            throw;
        }
        return {Standing::foreign, error.text().what + ": " + error.text().why, false,
                found.lacks_parts};
    }
}

Leftovers leftovers_beside(const std::string& output, const std::string& identity) {
    const std::optional<JournalIdentity> journal = read_identity(journal_folder(output));
    if (!journal) {
        return Leftovers::none;
    }
    return without_layout(journal->text) == identity ? Leftovers::fit : Leftovers::other;
}

bool concerns_parts(const PreparedJob& prepared, std::optional<int> parts_set) {
    return prepared.file.output.parts.value_or(2) > 1 || parts_set.has_value() ||
           parts_in_journal(prepared.file.output.file).has_value();
}

std::optional<int> parts_there(const PreparedJob& prepared, const FileLock& lock, Prober& prober) {
    const std::string& output = prepared.file.output.file;
    const std::optional<int> of_output = set_of_output(output, prober);
    if (!concerns_parts(prepared, of_output)) {
        return of_output;
    }
    const bool known = has_left_parts(output, lock);
    if (!of_output) {
        refuse_foreign(parts_folder(output), lock.foreign(parts_folder(output)));
    }
    for (const std::string& part : part_files(parts_folder(output))) {
        refuse_input(prepared, part);
        const std::optional<int> set = set_of_part_name(fs::path(part).filename().string());
        if (set == of_output) {
            continue;
        }
        refuse_foreign(part, known ? lock.foreign(part)
                                   : "it is a part of no output that is here, and no run of this "
                                     "program left it: neither a journal nor a lock stands beside "
                                     "it");
    }
    return of_output;
}

void remove_other_parts(const std::string& output, std::optional<int> kept) {
    const std::string folder = parts_folder(output);
    if (kept) {
        remove_parts(folder, 1 - *kept);
    } else {
        remove_parts(folder);
    }
}

} // namespace runner::output
