// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run_passes.hpp"

#include "io/files/file_lock.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/own_file.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/publish_output.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/messages.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/read_files.hpp"
#include "runner/output/replacing.hpp"
#include "runner/output/what_is_there.hpp"
#include "runner/prepare/disk_space.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/report/job_counts.hpp"
#include "runner/run_report.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace runner {
namespace {

/// The pass as if its input were there, on the first rank.
PreparedJob prepared_pass(const JobPass& pass, Prober& prober) {
    ProbedFiles files(prober, pass.file.input.rules);
    return prepare_pass(pass, files);
}

/// Passes on to pass `index` what is known of its input, which is there: what was counted in the
/// passes before it, and by what the file is known to stay the same.
void tell_input(std::vector<JobPass>& passes, std::size_t index, Prober& prober) {
    const std::string& input = passes[index].file.input.file;
    InputOrigin& origin = *passes[index].place.origin;
    ProbedFiles files(prober, passes[index - 1].file.input.rules);
    origin.mark = mark_of(input);
    origin.counts = counts_in(files.root_attributes(input));
}

/// Settles the finished output of a pass as run_pass() does, which cleans up where an earlier run
/// died before it had. @throws Error where the output is another's.
output::ToDo settle(const PreparedJob& prepared, const output::ClaimRules& rules, Prober& prober) {
    output::Claim claim(prepared.file.output.file, owner_text(""), prober);
    return claim.settle(prepared, rules);
}

/// Whether a process of this user can have made the file.
bool is_own(const std::string& file) {
    return foreign_file(file).empty() && foreign_owner(file).empty();
}

/// What the file under the pass's name must have to be what it makes.
enum class Parts { are_there, may_be_gone };

/// Whether the file under the pass's name is what it makes, where it stores that for the next: a
/// job of the same steps may have made another file of that name.
bool is_made_by(const PreparedJob& prepared, Parts parts, Prober& prober) {
    const JobFile::Output& output = prepared.file.output;
    if (!is_own(output.file)) {
        return false;
    }
    const output::OutputStanding found =
        output::standing_of(prepared, output::job_identity(prepared), prober);
    if (found.standing != output::Standing::done &&
        !(parts == Parts::may_be_gone && found.lacks_parts)) {
        return false;
    }
    const std::vector<std::string> names = ProbedFiles(prober, {}).object_names(output.file);
    return std::find(names.begin(), names.end(), output.dataset) != names.end();
}

/// Removes what a pass stored for the next, with its parts, and what a run that died left beside
/// it. Whatever is not this job's stays.
void remove_intermediate(const JobPass& pass, Prober& prober) {
    const std::string& file = pass.file.output.file;
    if (pass.is_kept || !(is_there(file) || is_there(partial_name(file)) ||
                          is_there(journal_folder(file)) || is_lock_left(lock_path(file)))) {
        return;
    }
    try {
        const PreparedJob prepared = prepared_pass(pass, prober);
        output::Claim claim(file, owner_text(""), prober);
        if (is_made_by(prepared, Parts::may_be_gone, prober)) {
            claim.remove_output(prepared);
        }
        claim.discard_leftovers(prepared);
    } catch (const Error&) { // what cannot be removed does no harm
    } catch (const std::filesystem::filesystem_error&) {
    }
}

/// Removes the file if a pass of a job with the output of `prepared` stored it for the next one.
void remove_stale(const PreparedJob& prepared, const std::string& file, Prober& prober) {
    try {
        if (!is_own(file) ||
            !output::is_between_passes_of(prepared.file.output.file, file, prober)) {
            return;
        }
        PreparedJob stale = prepared;
        stale.file.output.file = file;
        output::Claim claim(file, owner_text(""), prober);
        claim.remove_output(stale);
        if (!is_there(partial_name(file))) { // else another one is under way
            remove_journal(journal_folder(file));
        }
    } catch (const Error&) { // what cannot be removed does no harm
    } catch (const std::filesystem::filesystem_error&) {
    }
}

void remove_before(const std::vector<JobPass>& passes, std::size_t before, Prober& prober) {
    for (std::size_t i = 0; i < before; ++i) {
        remove_intermediate(passes[i], prober);
    }
}

/// Claims the job's own output. @throws Error where something stands in its way.
output::ToDo claim_output(std::optional<output::Claim>& claim, const JobPass& last,
                          bool input_is_there, Prober& prober) {
    PreparedJob prepared = prepared_pass(last, prober);
    prepared.input_is_missing = !input_is_there; // so nobody knows whether an output is of it
    (void)disk_space(prepared);                  // the output's folder is there
    claim.emplace(last.file.output.file, owner_text(host_name()), prober);
    return claim->inspect(prepared, output::rules_of(last.file));
}

/// Whether a pass before the last has made its output: output.overwrite makes no such output again
/// that is this job's, since a run that was killed in a later pass could not continue there.
/// @throws Error where another file has the name of an output that is to be kept.
bool is_made(const JobPass& pass, Prober& prober) {
    const PreparedJob prepared = prepared_pass(pass, prober);
    output::ClaimRules rules = output::rules_of(pass.file);
    if (pass.is_kept) {
        (void)disk_space(prepared);
    }
    if (!is_output_there(pass.file.output.file)) {
        return false;
    }
    if (output::standing_of(prepared, output::job_identity(prepared), prober).standing ==
        output::Standing::done) {
        rules.overwrite = false;
        return settle(prepared, rules, prober) == output::ToDo::nothing;
    }
    if (pass.is_kept) {
        (void)settle(prepared, rules, prober);
    }
    return false;
}

/// Whether the input of the first pass is there, or made by a run before anything else is known.
bool has_input(const JobPass& first, Prober& prober) {
    return !prepared_pass(first, prober).input_is_missing;
}

/// What the first rank decides, for all.
std::vector<bool> on_all(std::vector<bool> choices, const Ranks& ranks) {
    std::string text;
    for (const bool choice : choices) {
        text += choice ? '1' : '0';
    }
    text = ranks.broadcast(text);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        choices[i] = text[i] == '1';
    }
    return choices;
}

bool on_all(bool choice, const Ranks& ranks) { return on_all(std::vector{choice}, ranks).front(); }

/// Refuses a file under the name of what a pass stores, unless a pass of the job with this output
/// stored it. One of other parameters or another input may be replaced. @throws Error (output).
void check_intermediate(JobPass& pass, bool input_is_there, Prober& prober) {
    JobFile::Output& output = pass.file.output;
    std::error_code ignored;
    if (pass.is_kept ||
        !std::filesystem::exists(std::filesystem::symlink_status(output.file, ignored))) {
        return;
    }
    if (is_half_published(partial_name(output.file), output.file)) {
        output::complete_publishing(output.file, FileLock(lock_path(output.file), owner_text("")),
                                    prober);
    }
    const bool is_of_pass =
        input_is_there && is_made_by(prepared_pass(pass, prober), Parts::are_there, prober);
    if (!is_of_pass && !(is_own(output.file) &&
                         output::is_between_passes_of(pass.place.of_job, output.file, prober))) {
        throw Error(ExitCode::output, {"cannot store what a pass makes for the next", output.file,
                                       "a file of that name is there, and this job has not made it",
                                       "Move it away, or name another output.file"});
    }
    // On the first rank, which publishes.
    output.overwrite = !is_of_pass || pass.file.run.resume == ResumeChoice::never;
}

/// Refuses what others have put where a pass writes beside its output, before any pass runs. Where
/// a lock was left, the pass judges that itself: the lock says whose the files are, and goes with
/// its first holder. @throws Error (output).
void check_beside(const JobPass& pass, Prober& prober) {
    const std::string& file = pass.file.output.file;
    if (is_there(lock_path(file))) {
        return;
    }
    output::Claim claim(file, owner_text(""), prober);
    output::check_places_beside(file);
    (void)claim.look(prepared_pass(pass, prober), "");
}

/// earlier_to_run() on the first rank.
std::vector<bool> passes_to_run(std::vector<JobPass>& passes, bool last_is_done, Prober& prober) {
    std::vector<bool> runs(passes.size() - 1, true);
    const bool input_is_there = has_input(passes.front(), prober);
    if (passes.front().file.run.resume != ResumeChoice::never && input_is_there) {
        bool is_read = !last_is_done;
        for (std::size_t i = runs.size(); i > 0; --i) {
            runs[i - 1] = (is_read || passes[i - 1].is_kept) && !is_made(passes[i - 1], prober);
            is_read = runs[i - 1];
        }
    }
    if (!last_is_done || std::find(runs.begin(), runs.end(), true) != runs.end()) {
        for (std::size_t i = 0; i < runs.size(); ++i) {
            check_intermediate(passes[i], input_is_there, prober);
            if (runs[i]) {
                check_beside(passes[i], prober);
            }
        }
    }
    return runs;
}

/// Runs pass `index`, whose input is there.
ExitCode run_one(const RunCommand& command, std::vector<JobPass>& passes, std::size_t index,
                 const RunPass& run, const Ranks& ranks, Prober& prober) {
    JobPass& pass = passes[index];
    RunCommand of_pass = command;
    for (const std::string& setting : pass.settled) {
        of_pass.settings.push_back(setting); // recorded in the output, for verify
    }
    of_pass.pass = index + 1;
    of_pass.passes = passes.size();
    if (index > 0) {
        if (pass.file.run.resume == ResumeChoice::require) {
            pass.file.run.resume = ResumeChoice::automatic; // the passes before are resumed
        }
        ranks.first_alone([&] { tell_input(passes, index, prober); });
    }
    if (ranks.first() && !command.quiet) {
        say("pass " + std::to_string(index + 1) + " of " + std::to_string(passes.size()) + "\n");
    }
    const ExitCode code = run(of_pass, pass);
    if (code == ExitCode::ok) {
        ranks.first_alone([&] { remove_before(passes, index, prober); });
    }
    return code;
}

} // namespace

void tell_origins(std::vector<JobPass>& passes, Prober& prober) {
    for (std::size_t next = 1; next < passes.size(); ++next) {
        const PreparedJob before = prepared_pass(passes[next - 1], prober);
        InputOrigin& origin = *passes[next].place.origin;
        origin.identity = output::job_identity(before);
        origin.files = output::files_beside_input(before);
    }
}

std::vector<bool> earlier_to_run(std::vector<JobPass>& passes, bool last_is_done,
                                 const Ranks& ranks, Prober& prober) {
    std::vector<bool> runs(passes.size() - 1);
    ranks.first_alone([&] { runs = passes_to_run(passes, last_is_done, prober); });
    return on_all(runs, ranks);
}

ExitCode run_earlier_passes(const RunCommand& command, std::vector<JobPass>& passes,
                            const std::vector<bool>& to_run, const RunPass& run, const Ranks& ranks,
                            Prober& prober) {
    for (std::size_t i = 0; i < to_run.size(); ++i) {
        if (!to_run[i]) {
            continue;
        }
        const ExitCode code = run_one(command, passes, i, run, ranks, prober);
        if (code != ExitCode::ok) {
            return code;
        }
        if (i == 0) { // which may have made the input
            ranks.first_alone([&] { tell_origins(passes, prober); });
        }
    }
    return ExitCode::ok;
}

ExitCode run_last_pass(const RunCommand& command, std::vector<JobPass>& passes, const RunPass& run,
                       const Ranks& ranks, Prober& prober) {
    return run_one(command, passes, passes.size() - 1, run, ranks, prober);
}

void remove_intermediates(const std::vector<JobPass>& passes, Prober& prober) {
    remove_before(passes, passes.size() - 1, prober);
}

void remove_stale_intermediates(const PreparedJob& prepared, Prober& prober) {
    const std::string& output = prepared.file.output.file;
    if (!prepared.place.of_job.empty()) {
        return;
    }
    for (std::size_t index = 0; index + 1 < most_steps; ++index) {
        const std::string file = intermediate_file(output, index);
        if (is_there(file) && !prepared.files.contains(own_path(file)) &&
            !is_same_file(file, prepared.file.input.file)) {
            remove_stale(prepared, file, prober);
        }
    }
}

ExitCode run_passes(const RunCommand& command, std::vector<JobPass> passes, const RunClaimed& run,
                    const Ranks& ranks, Prober& prober) {
    std::optional<output::Claim> claim; // on the first rank
    bool is_done = false;
    ranks.first_alone([&] {
        const bool input_is_there = has_input(passes.front(), prober);
        if (input_is_there) {
            tell_origins(passes, prober);
        }
        is_done =
            claim_output(claim, passes.back(), input_is_there, prober) == output::ToDo::nothing;
        if (is_done) {
            claim.reset();
        }
    });
    is_done = on_all(is_done, ranks);
    const std::vector<bool> to_run = earlier_to_run(passes, is_done, ranks, prober);
    const RunPass earlier = [&](const RunCommand& of_pass, const JobPass& pass) {
        return run(of_pass, pass, nullptr);
    };
    const ExitCode code = run_earlier_passes(command, passes, to_run, earlier, ranks, prober);
    if (code != ExitCode::ok) {
        return code;
    }
    if (!is_done) {
        const RunPass last = [&](const RunCommand& of_pass, const JobPass& pass) {
            const ExitCode ended = run(of_pass, pass, claim ? &*claim : nullptr);
            claim.reset(); // before what lies between the passes goes
            return ended;
        };
        return run_last_pass(command, passes, last, ranks, prober);
    }
    ranks.first_alone([&] { remove_intermediates(passes, prober); });
    if (ranks.first() && std::find(to_run.begin(), to_run.end(), true) == to_run.end()) {
        tell_complete(command, passes.back().file.output.file);
    } else if (ranks.first() && (!command.reports.empty() || command.trace)) {
        tell_warning("no report or trace is written, since only saved files were made again");
    }
    return ExitCode::ok;
}

} // namespace runner
