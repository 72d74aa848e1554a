// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run_passes.hpp"

#include "io/files/file_lock.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "runner/messages.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/recovery/earlier_parts.hpp"
#include "runner/recovery/identity.hpp"
#include "runner/recovery/output_standing.hpp"
#include "runner/recovery/settle_output.hpp"
#include "runner/report/job_counts.hpp"
#include "runner/run_report.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace runner {
namespace {

/// The pass as if its input were there, on the first rank.
PreparedJob prepared_pass(const JobPass& pass, Prober& prober) {
    ProbedFiles files(prober, pass.file.input.rules);
    return prepare_pass(pass, files);
}

/// Passes on, to the passes behind `index`, what makes their input. The inputs of it and of those
/// before are there, or their own origins known.
void tell_origins(std::vector<JobPass>& passes, std::size_t index, Prober& prober) {
    for (std::size_t next = index + 1; next < passes.size(); ++next) {
        passes[next].file.input.origin->identity =
            job_identity(prepared_pass(passes[next - 1], prober));
    }
}

/// Passes on to pass `index` what was counted in those before, as the output of the last says.
void take_counts(std::vector<JobPass>& passes, std::size_t index, Prober& prober) {
    ProbedFiles files(prober, passes[index - 1].file.input.rules);
    passes[index].file.input.origin->counts =
        counts_in(files.root_attributes(passes[index - 1].file.output.file));
}

void remove_intermediates(const std::vector<JobPass>& passes, std::size_t before) {
    for (std::size_t i = 0; i < before; ++i) {
        std::error_code ignored; // what cannot be removed does no harm
        std::filesystem::remove(passes[i].file.output.file, ignored);
    }
}

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// Settles the finished output of a pass as run_pass() does, which cleans up where an earlier run
/// died before it had. @throws Error where the output is another's.
ToDo settle(PreparedJob& prepared, Prober& prober) {
    const std::string& output = prepared.file.output.file;
    if (is_there(partial_name(output))) {
        // The lock that a killed run left is the proof that this is its own: leave it.
        return settle_output(prepared, prober);
    }
    const FileLock lock(lock_path(output), owner_text(""));
    check_own_parts(output, lock);
    settle_parts(prepared, lock, prober);
    return settle_output(prepared, prober);
}

/// Whether the job's output is complete. @throws Error where another file has its name.
bool is_complete(const JobPass& last, Prober& prober) {
    PreparedJob prepared = prepared_pass(last, prober);
    (void)disk_space(prepared); // the output's folder is there
    return is_there(last.file.output.file) && settle(prepared, prober) == ToDo::nothing;
}

/// Whether a pass between has made its output.
bool is_made(const JobPass& pass, Prober& prober) {
    PreparedJob prepared = prepared_pass(pass, prober);
    if (output_standing(prepared, job_identity(prepared), prober).standing != Standing::done) {
        return false;
    }
    (void)settle(prepared, prober);
    return true;
}

/// The first pass that is to run; as many as there are passes where all are complete.
std::size_t first_to_run(std::vector<JobPass>& passes, Prober& prober) {
    if (prepared_pass(passes.front(), prober).input_is_missing) {
        return 0;
    }
    tell_origins(passes, 0, prober);
    if (is_complete(passes.back(), prober)) {
        return passes.size();
    }
    if (passes.front().file.run.resume == ResumeChoice::never) {
        return 0;
    }
    for (std::size_t next = passes.size() - 1; next > 0; --next) {
        if (is_made(passes[next - 1], prober)) {
            return next;
        }
    }
    return 0;
}

} // namespace

ExitCode run_passes(const RunCommand& command, std::vector<JobPass> passes, const RunPass& run,
                    const Ranks& ranks, Prober& prober) {
    std::size_t first = 0;
    ranks.first_alone([&] { first = first_to_run(passes, prober); });
    first = static_cast<std::size_t>(std::stoull(ranks.broadcast(std::to_string(first))));
    if (first == passes.size()) {
        ranks.first_alone([&] { remove_intermediates(passes, passes.size() - 1); });
        if (ranks.first()) {
            tell_complete(command, passes.back().file.output.file);
        }
        return ExitCode::ok;
    }
    RunCommand of_pass = command;
    for (const std::string& setting : passes.front().settled) {
        of_pass.settings.push_back(setting); // recorded in the output, for verify
    }
    for (std::size_t i = first; i < passes.size(); ++i) {
        const bool last = i + 1 == passes.size();
        of_pass.reports = last ? command.reports : std::vector<std::string>{};
        of_pass.trace = last ? command.trace : std::nullopt;
        if (i > 0 && passes[i].file.run.resume == ResumeChoice::require) {
            passes[i].file.run.resume = ResumeChoice::automatic; // the passes before are resumed
        }
        if (ranks.first() && !command.quiet) {
            say("pass " + std::to_string(i + 1) + " of " + std::to_string(passes.size()) + "\n");
        }
        if (i > 0) {
            ranks.first_alone([&] { take_counts(passes, i, prober); });
        }
        const ExitCode code = run(of_pass, [&] { return passes[i].file; });
        if (code != ExitCode::ok) {
            return code;
        }
        ranks.first_alone([&] {
            tell_origins(passes, i, prober);
            remove_intermediates(passes, i);
        });
    }
    return ExitCode::ok;
}

} // namespace runner
