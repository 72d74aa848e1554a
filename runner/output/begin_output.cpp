// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/begin_output.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/rounding.hpp"
#include "base/text.hpp"
#include "io/files/file.hpp"
#include "io/files/file_mark.hpp"
#include "io/files/hash.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/create_output.hpp"
#include "io/output/intact_rows.hpp"
#include "io/output/journal.hpp"
#include "io/output/part_files.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "runner/output/checkpoints.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/read_files.hpp"
#include "runner/output/what_is_there.hpp"
#include "runner/prepare/plan_request.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

namespace runner::output {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_other_job(const PreparedJob& prepared, const std::string& was,
                                   const std::string& is) {
    const bool input = only_input_differs(was, is);
    const std::string& output = prepared.file.output.file;
    const std::string partial = partial_name(output);
    throw Error(input ? ExitCode::input : ExitCode::output,
                {input ? "cannot resume, since the input has changed"
                       : "cannot resume another job's partial output",
                 partial, identity_difference(was, is),
                 (input ? "Set run.resume" : "Finish that job, or set run.resume") +
                     std::string(" = \"never\" to lose its rows and start over, or move ") +
                     partial + " and " + journal_folder(output) +
                     " away, or name another output.file"});
}

[[noreturn]] void refuse_nothing_there(const PreparedJob& prepared) {
    throw Error(ExitCode::output, {"cannot resume a run", partial_name(prepared.file.output.file),
                                   "there is nothing to resume",
                                   "Set run.resume = \"auto\" to start the job in that case"});
}

RowWriter::Sync sync_of(const PreparedJob& prepared, const ClaimRules& rules) {
    return prepared.file.output.sync && !rules.is_brief ? RowWriter::Sync::yes
                                                        : RowWriter::Sync::no;
}

std::string layout_line(const OutputDataset& output) {
    return fmt::format("layout = {}\n{}", layout_hash(output),
                       (output.parts.several() ? parts_line(output.parts) : ""));
}

/// The parts of an output that is begun: they say that they are of this job and this layout.
PartLayout new_parts(const PreparedJob& prepared, const BeginRequest& request,
                     const std::string& identity) {
    PartLayout parts = planned_parts(prepared, request.ranks, request.cores);
    if (parts.several()) {
        parts.set = request.parts_set ? 1 - *request.parts_set : 0;
        const std::string text = identity + to_text(parts);
        std::array<char, 20> owner{};
        (void)std::snprintf(
            owner.data(), owner.size(), "%016llx",
            static_cast<unsigned long long>(
                hash_bytes(reinterpret_cast<const std::byte*>(text.data()), std::ssize(text))));
        parts.owner = owner.data();
    }
    return parts;
}

/// The parts of the output that the journal is of, which between passes may be any. @throws Error
/// where it does not say what they are, or where they have the names of those of the finished
/// output.
PartLayout parts_left(const PreparedJob& prepared, std::optional<int> parts_set,
                      const JournalIdentity& journal) {
    const std::string& output = prepared.file.output.file;
    const std::optional<PartLayout> recorded = parts_of_identity(journal.text);
    const std::optional<std::int64_t> asked =
        prepared.place.is_between ? std::nullopt : prepared.file.output.parts;
    const bool wanted =
        asked &&
        choose_part_layout(prepared.output(), prepared.file.output.layout, *asked, 1).several();
    if ((asked && wanted != recorded.has_value()) ||
        (recorded && !fits(prepared.output(), *recorded))) {
        throw Error(ExitCode::output, {"the journal is damaged", journal_folder(output),
                                       "it does not say how the rows are in the output's parts",
                                       "Set run.resume = \"never\" to restart the job"});
    }
    if (!recorded) {
        return {};
    }
    if (recorded->set == parts_set) {
        throw Error(ExitCode::output,
                    {"cannot resume from the partial output", partial_name(output),
                     "the file that has come under the output's name since has parts of the same "
                     "names",
                     "Move " + output + " and " + parts_folder(output) +
                         " away, or set run.resume = \"never\""});
    }
    PartLayout parts = *recorded;
    parts.folder = parts_folder(output);
    return parts;
}

RowSet rows_of(const std::vector<RowHash>& hashes) {
    std::vector<RowRange> ranges;
    ranges.reserve(hashes.size());
    for (const RowHash& run : hashes) {
        ranges.push_back({run.first, run.first + run.rows});
    }
    return make_row_set(std::move(ranges));
}

/// Begins the journal of an output that was just created. That of a brief job has no identity:
/// nobody resumes it, whatever a power cut leaves.
Beginning begin_journal(const PreparedJob& prepared, const BeginRequest& request,
                        const OutputDataset& output, const std::string& identity) {
    Beginning beginning;
    beginning.sync = sync_of(prepared, request.rules);
    if (beginning.sync == RowWriter::Sync::yes) {
        // Its length must last before a journal says that it can be resumed.
        sync_parts(output);
        if (folder_of(output.layout) == nullptr) {
            File(output.file, File::Mode::update).sync();
        }
        sync_folder_of(output.file);
    }
    const std::string folder = journal_folder(prepared.file.output.file);
    beginning.parts = output.parts;
    beginning.identity = identity + layout_line(output);
    if (request.rules.is_brief) {
        begin_without_identity(folder);
    } else {
        write_identity(folder, {beginning.attempt, beginning.identity}, beginning.sync);
    }
    return beginning;
}

/// Makes the output and its journal in place of what an earlier run left.
Beginning restart_output(const PreparedJob& prepared, const BeginRequest& request,
                         const std::string& identity) {
    const OutputDataset output = output_dataset(prepared, new_parts(prepared, request, identity));
    const std::string& name = prepared.file.output.file;
    const std::string folder = journal_folder(name);
    const bool waits = sync_of(prepared, request.rules) == RowWriter::Sync::yes;
    const bool was_there = is_there(folder) || is_output_there(name);
    const bool removes_parts = concerns_parts(prepared, request.parts_set);
    // The folder stands before the output does, so that there always is what says whose that is.
    // Synced, or a power cut brings the old one back beside a restarted output.
    clear_journal(folder, waits || (prepared.file.output.sync && was_there) ? RowWriter::Sync::yes
                                                                            : RowWriter::Sync::no);
    try {
        if (removes_parts) {
            remove_other_parts(name, request.parts_set);
        }
        create_output(output);
        return begin_journal(prepared, request, output, identity);
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(output.file, ignored);
        if (output.parts.several()) {
            remove_parts(output.parts.folder, output.parts.set);
        }
        fs::remove_all(folder, ignored); // last: it says whose the others are
        throw;
    }
}

std::string share_text(std::int64_t part, std::int64_t whole) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.1f %%",
                        100.0 * static_cast<double>(part) / static_cast<double>(whole));
    return text.data();
}

/// Lets a state that evolves resume from the latest checkpoint before which all
/// snapshots are done; rows of later snapshots are made again.
void keep_to_checkpoint(const EvolveShape& shape, const std::string& folder,
                        std::vector<RowHash>& intact, Beginning& beginning) {
    const RowSet missing = subtract({{0, row_count(shape.output)}}, beginning.done);
    const std::int64_t frames =
        missing.empty() ? shape.snapshots.count() : missing.front().first / shape.rows;
    beginning.checkpoint = latest_checkpoint(
        folder, {shape.rows, shape.state_row_bytes}, [&](std::uint64_t generation) {
            return generation >= shape.snapshots.first && generation <= shape.snapshots.last() &&
                   shape.snapshots.count_until(generation) <= frames;
        });
    const std::int64_t kept =
        beginning.checkpoint ? shape.snapshots.count_until(*beginning.checkpoint) : 0;
    std::erase_if(intact, [&](const RowHash& run) { return run.first >= kept * shape.rows; });
    beginning.done = rows_of(intact);
    beginning.notes.push_back(
        beginning.checkpoint ? fmt::format("resumes where a run stopped: at generation {} of {}",
                                           *beginning.checkpoint, shape.snapshots.last())
                             : "restarts: the run before left no checkpoint");
}

/// Leaves out the runs that reach into groups of which rows are missing: those groups are computed
/// again. Rows of a group are computed together.
void keep_whole_groups(std::vector<RowHash>& runs, std::int64_t group) {
    for (std::size_t before = 0; group > 1 && before != runs.size();) { // one may end in two groups
        before = runs.size();
        RowSet whole;
        for (const RowRange& range : rows_of(runs)) {
            whole.push_back({round_up(range.first, group), range.last / group * group});
        }
        std::erase_if(runs, [&](const RowHash& run) {
            const auto holds =
                std::partition_point(whole.begin(), whole.end(), [&](const RowRange& each) {
                    return each.last < run.first + run.rows;
                });
            return holds == whole.end() || holds->first > run.first;
        });
    }
}

/// The new attempt's rows come first: the old one counts until the identity changes.
void begin_attempt(const std::string& folder, const JournalIdentity& identity, RowWriter::Sync sync,
                   const std::vector<RowHash>& rows) {
    JournalWriter(folder, identity.attempt, "before", sync).append(rows);
    write_identity(folder, identity, sync);
}

Beginning resume_output(const PreparedJob& prepared, const ClaimRules& rules,
                        const OutputDataset& output, const JournalIdentity& journal) {
    const std::string folder = journal_folder(prepared.file.output.file);
    const std::int64_t total = row_count(output.array);
    JournalRows rows = read_journal(folder, journal.attempt, total);
    const auto [found, all_were_read] =
        intact_rows(output, rows.rows, prepared.file.run.resume_check);
    std::vector<RowHash> intact = found;
    keep_whole_groups(intact, prepared.job->rows_together());

    Beginning beginning;
    beginning.sync = sync_of(prepared, rules);
    beginning.attempt = journal.attempt + 1;
    beginning.parts = output.parts;
    beginning.identity = journal.text;
    beginning.done = rows_of(intact);
    beginning.notes = std::move(rows.notes);
    if (intact.size() < rows.rows.size()) {
        beginning.notes.push_back("computed again, since not as it was written: " +
                                  counted(std::ssize(rows.rows) - std::ssize(intact), "chunk"));
    }
    if (const std::optional<EvolveShape> state = prepared.job->state()) {
        keep_to_checkpoint(*state, folder, intact, beginning);
    } else {
        const std::int64_t done = count_rows(beginning.done);
        beginning.notes.push_back(
            fmt::format("resumes where a run stopped: {} of {} rows ({}) are done", done, total,
                        share_text(done, total)));
    }
    if (!all_were_read) {
        beginning.unread = intact;
    }
    std::error_code ignored;
    fs::remove(stop_path(prepared.file.output.file), ignored); // it was for the run before
    begin_attempt(folder, {beginning.attempt, beginning.identity}, beginning.sync, intact);
    return beginning;
}

/// What an earlier run left to resume from, if anything.
struct LeftRun {
    std::optional<JournalIdentity> journal; ///< of a run that may have committed something
    std::vector<std::string> notes;         ///< why there is none though something is left
};

/// Why parts of a run that had committed nothing are not resumed.
std::string over_text(const std::string& was, const std::string& is) {
    const std::string text = "starts over: the run before had committed nothing";
    const std::string difference = identity_difference(was, is);
    return difference.empty() ? text : text + ", and " + difference;
}

LeftRun left_run(const PreparedJob& prepared, ResumeChoice resume, const std::string& identity) {
    const std::string& output = prepared.file.output.file;
    const std::string folder = journal_folder(output);
    const bool committed = lists_rows(folder) || has_checkpoint(folder);
    LeftRun left;
    try {
        left.journal = read_identity(folder);
    } catch (const Error& error) {
        if (committed) {
            throw;
        }
        left.notes.emplace_back(
            "starts over: the run before had committed nothing, and its journal "
            "is damaged");
        return left;
    }
    if (left.journal && !is_there(partial_name(output))) {
        left.journal.reset();
    } else if (left.journal && !committed && resume != ResumeChoice::require) {
        left.notes.push_back(over_text(without_layout(left.journal->text), identity));
        left.journal.reset();
    }
    return left;
}

} // namespace

ClaimRules rules_of(const JobFile& job) { return {job.output.overwrite, job.run.resume}; }

std::string stop_path(const std::string& file) { return journal_folder(file) + "/stop"; }

Beginning begin_output(const PreparedJob& prepared, const BeginRequest& request) {
    const std::string identity = job_identity(prepared);
    check_files_unchanged(prepared); // so that the identity is of what was read before
    const ResumeChoice resume = request.rules.resume;
    LeftRun left;
    if (resume != ResumeChoice::never) {
        left = left_run(prepared, resume, identity);
    }
    if (!left.journal) {
        if (resume == ResumeChoice::require) {
            refuse_nothing_there(prepared);
        }
        Beginning beginning = restart_output(prepared, request, identity);
        beginning.notes = std::move(left.notes);
        return beginning;
    }
    if (const std::string was = without_layout(left.journal->text); was != identity) {
        refuse_other_job(prepared, was, identity);
    }
    const OutputDataset output =
        output_dataset(prepared, parts_left(prepared, request.parts_set, *left.journal));
    restore_output(output);
    if (const std::string now = identity + layout_line(output); left.journal->text != now) {
        refuse_other_job(prepared, left.journal->text, now);
    }
    return resume_output(prepared, request.rules, output, *left.journal);
}

void give_up_rows(const PreparedJob& prepared, const Beginning& beginning,
                  const std::vector<RowHash>& wrong) {
    const std::string folder = journal_folder(prepared.file.output.file);
    std::vector<RowHash> rows =
        read_journal(folder, beginning.attempt, row_count(prepared.output())).rows;
    std::erase_if(rows, [&](const RowHash& run) {
        return std::find(wrong.begin(), wrong.end(), run) != wrong.end();
    });
    begin_attempt(folder, {beginning.attempt + 1, beginning.identity}, beginning.sync, rows);
}

std::vector<RowHash> finished_rows(const PreparedJob& prepared, const Beginning& beginning) {
    const std::string folder = journal_folder(prepared.file.output.file);
    const std::int64_t total = row_count(prepared.output());
    std::vector<RowHash> rows = read_journal(folder, beginning.attempt, total).rows;
    const RowSet missing = subtract({{0, total}}, rows_of(rows));
    if (!missing.empty()) {
        throw Error(ExitCode::output, {"the output is not complete", folder,
                                       fmt::format("rows {} to {} are in no journal",
                                                   missing.front().first, missing.front().last - 1),
                                       "Run the same command again: it computes them"});
    }
    return rows;
}

} // namespace runner::output
