// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output_standing.hpp"

#include "base/error.hpp"
#include "io/file_content.hpp"
#include "io/journal.hpp"
#include "io/sand_file.hpp"
#include "runner/claim.hpp"
#include "runner/identity.hpp"
#include "runner/probe.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

namespace runner {
namespace {

/// An identity without its last line, the layout, which is not of the job.
std::string without_layout(const std::string& identity) {
    return identity.substr(0, identity.rfind("layout = "));
}

OutputStanding compared(const std::string& was, const std::string& is) {
    if (was == is) {
        return {Standing::done, ""};
    }
    return {Standing::stale, identity_difference(was, is)};
}

OutputStanding sand_standing(const PreparedJob& prepared, const std::string& identity,
                             const DatasetEvent* done) {
    if (done == nullptr || done->output != mark_of(prepared.file.output.file)) {
        return is_complete(prepared)
                   ? OutputStanding{Standing::done, ""}
                   : OutputStanding{Standing::foreign,
                                    "nothing is known of how this .sand file was made"};
    }
    if (done->identity == checksum_text(identity)) {
        return {Standing::done, ""};
    }
    return {Standing::stale, "the job or its input has changed"};
}

std::optional<std::string> stored_identity(const std::string& file) {
    for (const auto& [name, value] : root_attributes(file)) {
        const auto* text = std::get_if<std::string>(&value);
        if (name == identity_attribute && text != nullptr) {
            return *text;
        }
    }
    return std::nullopt;
}

} // namespace

OutputStanding output_standing(const PreparedJob& prepared, const std::string& identity,
                               const DatasetEvent* done, Prober& prober) {
    const std::string& file = prepared.file.output.file;
    std::error_code failure;
    if (!std::filesystem::exists(file, failure)) {
        return {};
    }
    if (is_sand_name(file)) {
        return sand_standing(prepared, identity, done);
    }
    try {
        probe_survival(file, prober);
        if (const std::optional<std::string> was = stored_identity(file)) {
            return compared(without_layout(*was), identity);
        }
        return {Standing::foreign, "it is no finished output of this program"};
    } catch (const Error& error) {
        if (error.code() == ExitCode::launch) {
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
