// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/settle_output.hpp"

#include "base/error.hpp"
#include "io/output/journal.hpp"
#include "runner/output/claim.hpp"
#include "runner/output/earlier_parts.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/output_places.hpp"
#include "runner/output/output_standing.hpp"
#include "runner/output/replacing.hpp"

#include <filesystem>
#include <string>
#include <system_error>

namespace runner {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

[[noreturn]] void refuse(const PreparedJob& prepared, const std::string& why,
                         const std::string& do_this) {
    throw Error(ExitCode::output, {"the output is already there", prepared.file.output.file, why,
                                   do_this + ", or name another output.file"});
}

/// Says why the file under the output's name is not taken for this run's output.
[[noreturn]] void refuse_standing(const PreparedJob& prepared, const OutputStanding& found) {
    constexpr const char* replace = "Set output.overwrite = true to replace it";
    switch (found.standing) {
    case Standing::done:
        refuse(prepared, "it is complete, and run.resume = \"never\" asks to make it again",
               "Set output.overwrite = true as well");
    case Standing::stale:
        refuse(prepared,
               (found.only_input ? "the input has changed since it was made: "
                                 : "it is of another job: ") +
                   found.why,
               replace);
    case Standing::foreign:
    case Standing::nothing: break;
    }
    refuse(prepared, found.why, replace);
}

/// Whether an earlier run published the output and died before it had cleaned up.
bool has_ended_late(const std::string& output) {
    std::error_code ignored; // an empty journal may also be of an output that is not begun
    return !is_there(partial_name(output)) && is_there(journal_folder(output)) &&
           !fs::is_empty(journal_folder(output), ignored);
}

} // namespace

ToDo settle_output(const PreparedJob& prepared, Prober& prober) {
    const JobFile::Output& output = prepared.file.output;
    if (!is_there(output.file)) {
        return ToDo::make;
    }
    check_place(output.file, PlaceOf::file);
    OutputStanding found{Standing::foreign,
                         "its input is not there to tell whether it is this job's"};
    if (!prepared.input_is_missing) {
        found = output_standing(prepared, job_identity(prepared), prober);
    }
    const bool ended_late = has_ended_late(output.file);
    if (found.standing == Standing::done && (ended_late || !output.overwrite) &&
        prepared.file.run.resume != ResumeChoice::never) {
        if (!is_there(partial_name(output.file)) && is_there(journal_folder(output.file))) {
            release_output(prepared, prepared.parts_set);
        }
        return ToDo::nothing;
    }
    if (!output.overwrite) {
        refuse_standing(prepared, found);
    }
    check_replaceable(output.file, prober);
    check_replaceable_parts(prepared, prober);
    return ToDo::make;
}

} // namespace runner
