// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/output_claim.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/folder_tree.hpp"
#include "io/formats/rows_format.hpp"
#include "io/formats/slice_names.hpp"
#include "io/output/beside_record.hpp"
#include "io/output/journal.hpp"
#include "io/output/own_parts.hpp"
#include "io/output/part_files.hpp"
#include "io/output/publish_output.hpp"
#include "io/output/publish_slices.hpp"
#include "io/writers/shards.hpp"
#include "runner/output/complete_output.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/replacing.hpp"
#include "runner/prepare/disk_space.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace runner::output {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& file, const std::string& why,
                         const std::string& do_this) {
    throw Error(ExitCode::output, {"the output is already there", file, why,
                                   do_this + ", or name another output.file"});
}

/// Says why the file under the output's name is not taken for this run's output.
[[noreturn]] void refuse_standing(const std::string& file, const OutputStanding& found) {
    constexpr const char* replace = "Set output.overwrite = true to replace it";
    switch (found.standing) {
    case Standing::done:
        refuse(file, "it is complete, and run.resume = \"never\" asks to make it again",
               "Set output.overwrite = true as well");
    case Standing::stale:
        refuse(file,
               (found.only_input ? "the input has changed since it was made: "
                                 : "it is of another job: ") +
                   found.why,
               replace);
    case Standing::foreign:
    case Standing::nothing: break;
    }
    refuse(file, found.why, replace);
}

/// Whether an earlier run published the output and died before it had cleaned up.
bool has_ended_late(const std::string& output) {
    std::error_code ignored; // an empty journal may also be of an output that is not begun
    return !is_there(partial_name(output)) && is_there(journal_folder(output)) &&
           !fs::is_empty(journal_folder(output), ignored);
}

/// Refuses, before anything is written, an output that its disk has no room for.
void check_room(const PreparedJob& prepared) {
    const std::string& file = prepared.file.output.file;
    const DiskSpace disk = disk_space(prepared);
    if (disk.free < disk.least) {
        throw Error(
            ExitCode::output,
            {"the output does not fit on its disk", file,
             "it takes " + size_text(disk.least) + " and " + size_text(disk.free) + " are free",
             "Free " + size_text(disk.least - disk.free) + ", or name another disk"});
    }
}

/// Which names the parts of an output have, where it is one in parts.
std::optional<int> set_of(const PartLayout& parts) {
    return parts.several() ? std::optional(parts.set) : std::nullopt;
}

/// complete_publishing() of slices.
void complete_slices(const std::string& file, const FileLock& lock) {
    const std::string folder = publishing_folder(file);
    if (folder.empty()) {
        return;
    }
    std::string why = lock.foreign(folder);
    if (why.empty() && !has_left_parts(file, lock)) {
        why = "neither a journal nor a lock says that this program made it";
    }
    if (!why.empty()) {
        throw Error(ExitCode::output, {"cannot give the slices in a folder their names", folder,
                                       why, "Move it away"});
    }
    finish_slices(file, RowWriter::Sync::yes);
}

} // namespace

Claim::Claim(std::string file, const std::string& owner, Prober& prober)
    : file_(std::move(file)), prober_(prober), lock_(lock_path(file_), owner) {
    complete_publishing(file_, lock_, prober_);
    check_own_parts(file_, lock_);
}

OutputStanding Claim::look(const PreparedJob& prepared, const std::string& identity) {
    parts_set_ = parts_there(prepared, lock_, prober_);
    if (!is_output_there(file_)) {
        return {};
    }
    if (prepared.input_is_missing) {
        return {Standing::foreign, "its input is not there to tell whether it is this job's"};
    }
    return standing_of(prepared, identity, prober_);
}

ToDo Claim::inspect(const PreparedJob& prepared, const ClaimRules& rules) {
    const OutputStanding found =
        look(prepared, prepared.input_is_missing ? "" : job_identity(prepared));
    if (found.standing != Standing::nothing) {
        check_output_place(file_);
        const bool ended_late = has_ended_late(file_);
        if (found.standing == Standing::done && (ended_late || !rules.overwrite) &&
            rules.resume != ResumeChoice::never) {
            if (!is_there(partial_name(file_)) && is_there(journal_folder(file_))) {
                release(prepared);
            }
            return ToDo::nothing;
        }
        if (!rules.overwrite) {
            refuse_standing(file_, found);
        }
    }
    accept(rules);
    return ToDo::make;
}

ToDo Claim::settle(const PreparedJob& prepared, const ClaimRules& rules) {
    const ToDo to_do = inspect(prepared, rules);
    if (to_do == ToDo::make) {
        check_room(prepared);
    }
    return to_do;
}

/// Refuses what may not be replaced, or stands in the way.
void Claim::accept(const ClaimRules& rules) {
    rules_ = rules;
    check_replaceable(file_, prober_);
    check_replaceable_parts(file_, parts_set_, prober_);
    check_places_beside(file_);
    replaces_ = mark_of_output(file_);
}

void Claim::replace(const PreparedJob& prepared, const ClaimRules& rules) {
    accept(rules);
    check_room(prepared);
}

Beginning Claim::begin(const PreparedJob& prepared, int ranks, int cores) {
    Beginning beginning = begin_output(prepared, {rules_, parts_set_, ranks, cores});
    begun_ = beginning.parts;
    return beginning;
}

std::vector<std::string> Claim::complete(const PreparedJob& prepared, const Beginning& beginning,
                                         std::vector<Attribute> facts, const Extremes& extremes) {
    std::vector<std::string> warnings =
        complete_record(prepared, beginning, std::move(facts), extremes, prober_);
    // What is under the output's name was checked when the run began; somebody may have put
    // something there since.
    if (rules_.overwrite && mark_of_output(file_) != replaces_) {
        check_replaceable(file_, prober_);
    }
    check_replaceable_parts(file_, parts_set_, prober_);
    if (is_recorded_beside(file_)) {
        check_beside_record(file_);
    }
    const OutputDataset dataset = output_dataset(prepared, beginning.parts);
    if (prepared.file.output.sync) {
        sync_parts(dataset); // before a name says that they are complete
    }
    publish_output(dataset.file, file_, rules_.overwrite ? Overwrite::yes : Overwrite::no,
                   final_sync(prepared));
    return warnings;
}

void Claim::release(const PreparedJob& prepared) {
    if (is_recorded_beside(file_)) {
        publish_beside_record(file_, final_sync(prepared));
    }
    remove_shards(output_dataset(prepared, begun_.value_or(PartLayout{})));
    std::error_code ignored;
    fs::remove(partial_name(file_) + ".layout", ignored); // where a kill left it
    if (concerns_parts(prepared, parts_set_)) {
        remove_other_parts(file_, begun_ ? set_of(*begun_) : parts_set_);
    }
    remove_journal(journal_folder(file_));
}

void Claim::remove_output(const PreparedJob& prepared) {
    const std::optional<int> set = parts_there(prepared, lock_, prober_);
    if (set) {
        lock_.sync(); // without the output it alone says whose the parts are
    }
    fs::remove(file_);
    if (!set) {
        return;
    }
    try {
        remove_parts(parts_folder(file_), set);
    } catch (...) {
        lock_.leave(); // so that the next run finds whose the others are
        throw;
    }
}

void Claim::discard_leftovers(const PreparedJob& prepared) {
    if (leftovers_beside(file_, job_identity(prepared)) == Leftovers::other) {
        return;
    }
    if (has_left_parts(file_, lock_)) {
        remove_other_parts(file_, parts_there(prepared, lock_, prober_));
    }
    remove_shards({partial_name(file_), "", {}, {}});
    for (const std::string& left : {partial_name(file_), partial_name(file_) + ".layout"}) {
        remove_tree(left);
    }
    remove_journal(journal_folder(file_));
}

void complete_publishing(const std::string& file, const FileLock& lock, Prober& prober) {
    const std::string partial = partial_name(file);
    if (SliceNames::of(file)) {
        complete_slices(file, lock);
        return;
    }
    if (is_there(partial) && is_folder_output(file) && identity_in_journal(file)) {
        // The two have exchanged their names; this is the output that was there before.
        if (const std::string why = lock.foreign(partial); !why.empty()) {
            throw Error(ExitCode::output, {"cannot remove the output that was replaced", partial,
                                           why, "Remove it by hand"});
        }
        remove_tree(partial);
        return;
    }
    if (!is_half_published(partial, file)) {
        return;
    }
    std::string why = lock.foreign(partial);
    if (why.empty() && !has_left_parts(file, lock)) {
        why = "neither a journal nor a lock says that this program gave it both";
    }
    // Only what is complete gets a second name, and it says so in its attributes or its record.
    if (why.empty() && !says_how_it_was_made(file, prober)) {
        why = "it is no finished output of this program";
    }
    if (!why.empty()) {
        throw Error(ExitCode::output,
                    {"one file has the output's name and that of the unfinished output",
                     file + ", " + partial, why, "Remove the name that is wrong"});
    }
    finish_publishing(partial, file);
}

} // namespace runner::output
