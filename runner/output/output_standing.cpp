// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/output_standing.hpp"

#include "base/error.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/journal.hpp"
#include "io/rows/output_parts.hpp"
#include "io/writers/record_seal.hpp"
#include "runner/output/claim.hpp"
#include "runner/output/identity.hpp"
#include "runner/probe/probed_files.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

namespace runner {
namespace {

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
    return {Standing::foreign, "nothing is known of how this file was made: the record beside "
                               "it is missing, damaged or of another file"};
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

OutputStanding output_standing(const PreparedJob& prepared, const std::string& identity,
                               Prober& prober) {
    const std::string& file = prepared.file.output.file;
    ProbedFiles files(prober, {});
    std::error_code failure;
    if (!std::filesystem::exists(file, failure)) {
        return {};
    }
    if (is_recorded_beside(file)) {
        return standing_beside(prepared, identity);
    }
    try {
        const AttributeList record = files.root_attributes(file);
        if (const std::optional<std::string> was = stored_identity(record)) {
            if (const std::string damage =
                    record_damage(files, file, record, datasets_of(output_dataset(prepared)));
                !damage.empty()) {
                return {Standing::foreign, "its record is damaged: " + damage};
            }
            OutputStanding found = compared(without_layout(*was), identity);
            if (found.standing == Standing::done && parts_of_identity(*was)) {
                (void)files.layout(file, prepared.file.output.dataset); // its parts are there
            }
            return found;
        }
        return {Standing::foreign, "it is no finished output of this program"};
    } catch (const Error& error) {
        if (error.code() == ExitCode::launch || error.code() == ExitCode::stopped) {
            throw;
        }
        return {Standing::foreign, error.text().what + ": " + error.text().why};
    }
}

Parts parts_beside(const PreparedJob& prepared, const std::string& identity) {
    const std::optional<JournalIdentity> journal =
        read_identity(journal_folder(prepared.file.output.file));
    if (!journal) {
        return Parts::none;
    }
    return without_layout(journal->text) == identity ? Parts::fit : Parts::other;
}

} // namespace runner
