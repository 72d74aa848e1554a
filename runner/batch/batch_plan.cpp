// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_plan.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "io/output/journal.hpp"
#include "io/output/output_size.hpp"
#include "io/rows/row_geometry.hpp"
#include "runner/engines/engine.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/recovery/identity.hpp"
#include "runner/recovery/replacing.hpp"
#include "runner/report/version.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace runner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_told = 10;

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
    }

    std::string of(const BatchDataset& dataset) const {
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

bool has_journal(const std::string& output) {
    std::error_code ignored;
    return fs::exists(journal_folder(output), ignored);
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

/// Fills in what an inspection of input and output shows.
void look_at(PlannedDataset& planned, const BatchPlan& plan, const BatchMeans& means,
             Prober& prober) {
    JobFile file = job_for(planned.dataset, plan.job, plan.settings);
    const bool overwrite = file.output.overwrite;
    ProbedFiles inputs(prober, file.input.rules);
    const PreparedJob prepared = prepare_job(std::move(file), inputs);
    const ArrayInfo made = prepared.output();
    planned.listed.bytes = array_bytes(prepared.input.array) + array_bytes(made);
    planned.listed.rows = row_count(made);
    planned.disk_bytes = output_bytes(made, prepared.file.output.layout);
    const std::string identity = job_identity(prepared);
    planned.identity = checksum_text(identity);
    const OutputStanding found = output_standing(prepared, identity, prober);
    switch (found.standing) {
    case Standing::done:
        // A run that died before it had cleaned up: that is done under the output's lock.
        planned.fate = has_journal(planned.dataset.output) ? Fate::to_do : Fate::done;
        return;
    case Standing::nothing: planned.fate = Fate::to_do; break;
    case Standing::stale:
        planned.fate = Fate::redo;
        planned.reason = found.why;
        break;
    case Standing::foreign:
        if (!overwrite) {
            throw Error(ExitCode::output,
                        {"the output is already there", planned.dataset.output, found.why,
                         "Set output.overwrite = true, or another batch.output"});
        }
        planned.fate = Fate::redo;
        planned.reason = found.why;
    }
    if (planned.fate == Fate::redo) {
        check_replaceable(planned.dataset.output, prober);
    }
    try {
        (void)plan_job(prepared, means.backend, 1, means.limits);
    } catch (const Error&) {
        if (means.ranks == 1) {
            throw;
        }
        (void)plan_job(prepared, means.backend, means.ranks, means.limits);
        planned.needs_all_ranks = true;
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
};

std::vector<DiskShare> disk_shares(const BatchPlan& plan) {
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
        for (const char* ending : {"", ".partial"}) { // replaced or resumed
            disk.needed -= std::max<std::int64_t>(
                0, std::min(planned.disk_bytes, mark_of(planned.dataset.output + ending).bytes));
        }
    }
    std::vector<DiskShare> all;
    all.reserve(disks.size());
    for (const auto& [device, share] : disks) {
        all.push_back(share);
    }
    return all;
}

} // namespace

bool is_known_done(const DatasetEvent* last, const std::string& key, const FileMark& input,
                   const FileMark& output) {
    return last != nullptr && last->what == DatasetEvent::What::done && last->key == key &&
           last->input == input && input.bytes >= 0 && last->output == output;
}

std::int64_t BatchPlan::count(Fate fate) const {
    return std::count_if(datasets.begin(), datasets.end(),
                         [&](const PlannedDataset& planned) { return planned.fate == fate; });
}

BatchPlan list_batch(JobFile job, std::vector<std::string> settings, const BatchHistory& history,
                     const BeforeEach& before_each) {
    BatchPlan plan;
    plan.job = std::move(job);
    plan.settings = std::move(settings);
    const Keys keys(plan.job, plan.settings);
    for (BatchDataset& dataset : list_datasets(plan.job)) {
        before_each();
        PlannedDataset planned;
        planned.listed = {dataset.input, dataset.output, keys.of(dataset), 0, 0};
        planned.dataset = std::move(dataset);
        const std::string& output = planned.dataset.output;
        planned.input = mark_of(planned.dataset.input);
        planned.output = mark_of(output);
        const DatasetEvent* const last = find(history.last, output);
        planned.ended_badly = last != nullptr && last->what != DatasetEvent::What::done &&
                              last->what != DatasetEvent::What::stopped;
        if (is_known_done(last, planned.listed.key, planned.input, planned.output) &&
            !has_journal(output)) {
            planned.fate = Fate::done;
        }
        plan.datasets.push_back(std::move(planned));
    }
    return plan;
}

std::vector<std::size_t> unknown_datasets(const BatchPlan& plan, Part part) {
    std::vector<std::size_t> places;
    std::size_t count = 0;
    for (std::size_t i = 0; i < plan.datasets.size(); ++i) {
        if (plan.datasets[i].fate == Fate::unknown && part.has(count++)) {
            places.push_back(i);
        }
    }
    return places;
}

void look_at_datasets(BatchPlan& plan, std::span<const std::size_t> places, const BatchMeans& means,
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

std::string batch_plan_text(const BatchPlan& plan) {
    const auto total = static_cast<std::int64_t>(plan.datasets.size());
    std::string text = fmt::format("{}: {}{}{}{}{}{}\n", printable(plan.job.name), total,
                                   (total == 1 ? " dataset" : " datasets"),
                                   count_text(plan.count(Fate::done), "done before"),
                                   count_text(plan.count(Fate::to_do), "to do"),
                                   count_text(plan.count(Fate::redo), "stale and to do again"),
                                   count_text(plan.count(Fate::refused), "that cannot be run"));
    std::size_t told = 0;
    for (const PlannedDataset& planned : plan.datasets) {
        if (planned.fate == Fate::refused && ++told <= most_told) {
            text += "  cannot be run: " + printable(planned.dataset.input) + ": " +
                    printable(planned.reason) + "\n";
        }
    }
    if (told > most_told) {
        text += fmt::format("  and {} more\n", told - most_told);
    }
    for (const DiskShare& disk : disk_shares(plan)) {
        text += "  disk of " + printable(disk.folder) + ": needs " +
                size_text(std::max<std::int64_t>(0, disk.needed)) + ", " + size_text(disk.free) +
                " free\n";
    }
    return text;
}

void check_batch_disk(const BatchPlan& plan) {
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

} // namespace runner
