// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_plan.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/file_lock.hpp"
#include "io/formats/slice_names.hpp"
#include "io/input/stack.hpp"
#include "io/output/journal.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/row_geometry.hpp"
#include "runner/engines/engine.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/output/identity.hpp"
#include "runner/output/read_files.hpp"
#include "runner/output/replacing.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/report/version.hpp"
#include "runner/run_passes.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace runner::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_refusals_told = 10;

std::string mark_text(const std::string& path) {
    const FileMark mark = mark_of(path);
    return fmt::format("{} {} {}\n", path, mark.bytes, mark.modified);
}

/// Makes the keys of a batch's datasets.
class Keys {
  public:
    Keys(const JobFile& job, std::span<const std::string> settings)
        : job_(job), settings_(settings) {
        common_ = version_text() + job.text + "\n";
        for (const std::string& setting : settings) {
            common_ += setting + "\n";
        }
        for (const InputDataset& input : job.parameters->inputs()) {
            common_ += mark_text(input.file);
        }
        if (!job.input.invalid.mask_file.empty()) {
            common_ += mark_text(job.input.invalid.mask_file);
        }
    }

    std::string of(const Dataset& dataset) const {
        std::string text = common_ + dataset.input + "\n" + dataset.output + "\n";
        for (const ManifestEntry::Setting& setting : dataset.settings) {
            text += setting.text + "\n";
        }
        if (!dataset.settings.empty()) {
            try { // its parameters may read other files
                for (const auto& input : job_for(dataset, job_, settings_).parameters->inputs()) {
                    text += mark_text(input.file);
                }
            } catch (const Error&) { // reported when the dataset is inspected
            }
        }
        return checksum_text(text);
    }

  private:
    const JobFile& job_;
    std::span<const std::string> settings_;
    std::string common_;
};

/// Whether a run that died left a journal or its lock beside the output.
bool has_leftovers(const std::string& output) {
    std::error_code ignored;
    return fs::exists(journal_folder(output), ignored) || is_lock_left(lock_path(output));
}

/// The same of all files of a dataset, and whether a pass's file is there.
bool has_leftovers(const Dataset& dataset, const JobFile& job) {
    const auto left = [](const std::string& file) { return has_leftovers(file); };
    if (left(dataset.output) || std::any_of(dataset.saves.begin(), dataset.saves.end(), left)) {
        return true;
    }
    const std::size_t steps = job.pipeline ? job.pipeline->steps().size() : 1;
    for (std::size_t i = 0; i + 1 < steps; ++i) {
        const std::string file = intermediate_file(dataset.output, i);
        if (left(file) || mark_of(file).bytes >= 0) {
            return true;
        }
    }
    return false;
}

/// Files that steps save; inspecting the dataset says what they hold.
bool are_there(const std::vector<std::string>& saves) {
    return std::all_of(saves.begin(), saves.end(),
                       [](const std::string& file) { return mark_of(file).bytes >= 0; });
}

const DatasetEvent* find(const DatasetEvents& events, const std::string& output) {
    const auto found = events.find(output);
    return found == events.end() ? nullptr : &found->second;
}

fs::path nearest_folder(const std::string& file) {
    fs::path folder = fs::absolute(file).parent_path();
    std::error_code ignored;
    while (!fs::is_directory(folder, ignored) && folder != folder.parent_path()) {
        folder = folder.parent_path();
    }
    return folder;
}

std::int64_t array_bytes(const ArrayInfo& array) { return byte_count(array); }

void refuse(PlannedDataset& planned, const Error& error) {
    planned.fate = Fate::refused;
    planned.code = error.code();
    planned.reason = error.what();
}

/// What stands under the name of an output that a pass keeps, and what is to become of the dataset
/// for it. @throws Error (output) where it is not to be replaced.
Fate fate_of(const PreparedJob& prepared, const std::string& identity, bool overwrite,
             PlannedDataset& planned, Prober& prober) {
    const std::string& file = prepared.file.output.file;
    const output::OutputStanding found = output::standing_of(prepared, identity, prober);
    switch (found.standing) {
    case output::Standing::done:
        // A run that died before it had cleaned up: that is done under the output's lock.
        return has_leftovers(file) ? Fate::to_do : Fate::done;
    case output::Standing::nothing: return Fate::to_do;
    case output::Standing::foreign:
        if (!overwrite) {
            throw Error(ExitCode::output, {"the output is already there", file, found.why,
                                           "Set output.overwrite = true, or another batch.output"});
        }
        break;
    case output::Standing::stale: break;
    }
    planned.reason = found.why;
    output::check_replaceable(file, prober);
    return Fate::redo;
}

/// The worse of two outputs of a dataset: done where both are.
Fate worse(Fate a, Fate b) {
    if (a == Fate::redo || b == Fate::redo) {
        return Fate::redo;
    }
    return a == Fate::done ? b : a;
}

/// Adds what the pass reads, writes and stores.
void add_sizes(const std::vector<JobPass>& passes, std::size_t index, const PreparedJob& prepared,
               PlannedDataset& planned) {
    const bool is_last = index + 1 == passes.size();
    const std::int64_t stored = bytes_with_levels(prepared.output(), prepared.file.output.layout);
    planned.listed.bytes += array_bytes(prepared.input.array) + array_bytes(prepared.output());
    std::int64_t between =
        index > 0 && !passes[index - 1].is_kept ? array_bytes(prepared.input.array) : 0;
    if (is_last || passes[index].is_kept) {
        planned.disk_bytes += stored;
    } else {
        between += stored;
    }
    planned.between_bytes = std::max(planned.between_bytes, between);
}

/// Whether a pass needs all ranks. @throws Error (usage) where it fits on none.
bool needs_all_ranks(const PreparedJob& prepared, const Means& means) {
    try {
        (void)plan_job(prepared, means.backend, 1, means.limits);
        return false;
    } catch (const Error&) {
        if (means.ranks == 1) {
            throw;
        }
        (void)plan_job(prepared, means.backend, means.ranks, means.limits);
        return true;
    }
}

/// Fills in what an inspection of input and outputs shows.
void look_at(PlannedDataset& planned, const Plan& plan, const Means& means, Prober& prober) {
    const JobFile file = job_for(planned.dataset, plan.job, plan.settings);
    ProbedFiles inputs(prober, file.input.rules);
    std::vector<JobPass> passes = passes_of(file, inputs);
    tell_origins(passes, prober);
    planned.listed.bytes = 0;
    planned.fate = Fate::done;
    std::vector<PreparedJob> prepared;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        prepared.push_back(prepare_pass(passes[i], inputs));
        add_sizes(passes, i, prepared.back(), planned);
        const std::string identity = output::job_identity(prepared.back());
        if (i + 1 == passes.size()) {
            planned.identity = checksum_text(identity);
            planned.files = output::files_beside_input(prepared.back());
            planned.listed.rows = row_count(prepared.back().output());
        } else if (!passes[i].is_kept) {
            if (has_leftovers(prepared.back().file.output.file) ||
                output::standing_of(prepared.back(), identity, prober).standing ==
                    output::Standing::done) {
                planned.fate = worse(planned.fate, Fate::to_do);
            }
            continue;
        }
        planned.fate = worse(planned.fate, fate_of(prepared.back(), identity, file.output.overwrite,
                                                   planned, prober));
    }
    if (planned.fate == Fate::done) {
        return;
    }
    for (const PreparedJob& pass : prepared) {
        planned.needs_all_ranks = needs_all_ranks(pass, means) || planned.needs_all_ranks;
    }
}

std::string count_text(std::int64_t count, const char* what) {
    return count == 0 ? "" : fmt::format(", {} {}", count, what);
}

/// What the outputs to make take on each disk, and what is free there, by the disk's number.
struct DiskShare {
    std::string folder;
    std::int64_t needed = 0;
    std::int64_t free = 0;
    std::int64_t between = 0; ///< the most that the passes of a dataset store for a while
};

std::vector<DiskShare> disk_shares(const Plan& plan) {
    std::map<dev_t, DiskShare> disks;
    std::map<fs::path, dev_t> known;
    for (const PlannedDataset& planned : plan.datasets) {
        if (planned.fate != Fate::to_do && planned.fate != Fate::redo) {
            continue;
        }
        const fs::path parent = fs::path(planned.dataset.output).parent_path();
        auto device = known.find(parent);
        if (device == known.end()) {
            const fs::path folder = nearest_folder(planned.dataset.output);
            struct stat status {};
            (void)::stat(folder.c_str(), &status);
            device = known.emplace(parent, status.st_dev).first;
            std::error_code ignored;
            const auto space = fs::space(folder, ignored);
            disks.try_emplace(status.st_dev,
                              DiskShare{folder.string(), 0,
                                        static_cast<std::int64_t>(std::min<std::uintmax_t>(
                                            space.available, std::uintmax_t{1} << 62))});
        }
        DiskShare& disk = disks.at(device->second);
        disk.needed += planned.disk_bytes;
        disk.between = std::max(disk.between, planned.between_bytes);
        for (const char* ending : {"", ".partial"}) { // replaced or resumed
            disk.needed -= std::max<std::int64_t>(
                0, std::min(planned.disk_bytes, mark_of(planned.dataset.output + ending).bytes));
        }
    }
    std::vector<DiskShare> all;
    all.reserve(disks.size());
    for (const auto& [device, share] : disks) {
        all.push_back(share);
        all.back().needed += share.between;
    }
    return all;
}

/// How small compressed outputs become is not known.
bool is_packed(const Plan& plan) { return plan.job.output.layout.compression != Compression::none; }

} // namespace

bool is_known_done(const DatasetEvent* last, const std::string& key, const FileMark& input,
                   const FileMark& output) {
    return last != nullptr && last->what == DatasetEvent::What::done && last->key == key &&
           last->input == input && input.bytes >= 0 && last->output == output &&
           first_changed(last->files).empty();
}

std::int64_t Plan::count(Fate fate) const {
    return std::count_if(datasets.begin(), datasets.end(),
                         [&](const PlannedDataset& planned) { return planned.fate == fate; });
}

Plan list_batch(JobFile job, std::vector<std::string> settings, const History& history,
                const BeforeEach& before_each) {
    Plan plan;
    plan.job = std::move(job);
    plan.settings = std::move(settings);
    const Keys keys(plan.job, plan.settings);
    List list = list_datasets(plan.job, plan.settings);
    plan.note = list.note;
    for (Dataset& dataset : list.datasets) {
        before_each();
        PlannedDataset planned;
        planned.listed = {dataset.input, dataset.output, keys.of(dataset), 0, 0};
        planned.dataset = std::move(dataset);
        const std::string& output = planned.dataset.output;
        planned.input = mark_of_input(planned.dataset.input);
        planned.output = mark_of_output(output);
        const DatasetEvent* const last = find(history.last, output);
        planned.ended_badly = last != nullptr && last->what != DatasetEvent::What::done &&
                              last->what != DatasetEvent::What::stopped;
        if (is_known_done(last, planned.listed.key, planned.input, planned.output) &&
            !has_leftovers(planned.dataset, plan.job) && are_there(planned.dataset.saves)) {
            planned.fate = Fate::done;
        }
        plan.datasets.push_back(std::move(planned));
    }
    return plan;
}

std::vector<std::size_t> unknown_datasets(const Plan& plan, Share share) {
    std::vector<std::size_t> places;
    std::size_t count = 0;
    for (std::size_t i = 0; i < plan.datasets.size(); ++i) {
        if (plan.datasets[i].fate == Fate::unknown && share.has(count++)) {
            places.push_back(i);
        }
    }
    return places;
}

void look_at_datasets(Plan& plan, std::span<const std::size_t> places, const Means& means,
                      Prober& prober, const BeforeEach& before_each) {
    for (const std::size_t place : places) {
        before_each();
        PlannedDataset& planned = plan.datasets[place];
        try {
            look_at(planned, plan, means, prober);
        } catch (const Error& error) {
            if (error.code() == ExitCode::stopped) {
                throw;
            }
            refuse(planned, error);
        }
    }
}

std::string batch_plan_text(const Plan& plan) {
    const auto total = static_cast<std::int64_t>(plan.datasets.size());
    std::string text = fmt::format("{}: {}{}{}{}{}{}\n", printable(plan.job.name), total,
                                   (total == 1 ? " dataset" : " datasets"),
                                   count_text(plan.count(Fate::done), "done before"),
                                   count_text(plan.count(Fate::to_do), "to do"),
                                   count_text(plan.count(Fate::redo), "stale and to do again"),
                                   count_text(plan.count(Fate::refused), "that cannot be run"));
    std::size_t told = 0;
    for (const PlannedDataset& planned : plan.datasets) {
        if (planned.fate == Fate::refused && ++told <= most_refusals_told) {
            text += "  cannot be run: " + printable(planned.dataset.input) + ": " +
                    printable(planned.reason) + "\n";
        }
    }
    if (told > most_refusals_told) {
        text += fmt::format("  and {} more\n", told - most_refusals_told);
    }
    for (const DiskShare& disk : disk_shares(plan)) {
        text += "  disk of " + printable(disk.folder) + ": needs " +
                (is_packed(plan) ? "at most " : "") +
                size_text(std::max<std::int64_t>(0, disk.needed)) + ", " + size_text(disk.free) +
                " free\n";
    }
    return text;
}

void check_disk(const Plan& plan) {
    if (is_packed(plan)) {
        return;
    }
    for (const DiskShare& disk : disk_shares(plan)) {
        if (disk.needed > disk.free) {
            throw Error(ExitCode::output, {"the batch does not fit on its disk", disk.folder,
                                           "its outputs take " + size_text(disk.needed) +
                                               " more and " + size_text(disk.free) + " are free",
                                           "Free " + size_text(disk.needed - disk.free) +
                                               ", or name fewer inputs at a time"});
        }
    }
}

} // namespace runner::batch
