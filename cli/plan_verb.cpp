// SPDX-License-Identifier: BSD-3-Clause
#include "cli/plan_verb.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "cli/plan_reading.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "runner/engines/engine.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/output/complete_output.hpp"
#include "runner/prepare/declared_input.hpp"
#include "runner/prepare/disk_space.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/prepare/plan_request.hpp"
#include "runner/prepare/prepare.hpp"
#include "runner/probe/probed_files.hpp"
#include "runner/ranks/binding.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/ranks/kept_rates.hpp"
#include "runner/report/report.hpp"
#include "views/pictures/array_name.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner::cli {
namespace {

/// CUDA where the job or the command line asks for it or gives it memory, else the CPU.
Backend planned_backend(const PlanCommand& command, const JobFile& file) {
    const BackendChoice choice = command.backend.value_or(file.run.backend);
    const bool sized = file.run.device_memory && file.run.device_memory->fraction == 0;
    if (choice == BackendChoice::automatic) {
        return command.device_memory || sized ? Backend::cuda : Backend::cpu;
    }
    return choice == BackendChoice::cuda ? Backend::cuda : Backend::cpu;
}

RankLimits planned_limits(const PlanCommand& command, const JobFile& file, Backend backend) {
    const bool sized = file.run.device_memory && file.run.device_memory->fraction == 0;
    if (backend == Backend::cuda && !command.device_memory && !sized) {
        throw Error(ExitCode::usage,
                    {"cannot plan for a GPU of unknown size", file.path,
                     "planning probes no GPU and nothing says how much memory it has",
                     "Add --device-memory, such as --device-memory 80GiB"});
    }
    RankLimits limits;
    const CpuList cores = HostTopology().allowed_cpus();
    limits.cores = std::max(1, static_cast<int>(cores.size()) / command.ranks);
    limits.host_memory =
        command.host_memory.value_or(available_host_memory().bytes / command.ranks);
    limits.device_memory = command.device_memory.value_or(0);
    return limits;
}

/// Limits of the command line are what may be taken, not what is there: no share is left free.
void take_command_limits(const PlanCommand& command, JobFile& file) {
    if (command.host_memory) {
        file.run.host_memory = MemorySize{*command.host_memory, 0};
    }
    if (command.device_memory) {
        file.run.device_memory = MemorySize{*command.device_memory, 0};
    }
}

/// Which elements are no values, by their number; "" where all are values.
std::string invalid_text(const ArrayInfo& array, const std::optional<double>& invalid) {
    return invalid ? invalid_text(array.type, *invalid) : "";
}

/// The same for the input, with the masks.
std::string invalid_input_text(const PreparedJob& prepared) {
    std::string number = invalid_text(prepared.input.array, prepared.input.invalid_value);
    if (prepared.mask == nullptr) {
        return number;
    }
    const bool others = prepared.mask->element.equal == MaskedElement::Equal::invalid;
    return "by the mask " + prepared.mask->text() + ", as " + number +
           (others ? ", and all that are " + number : "");
}

/// Adds the coarser levels of an image that is written, and the files of a folder. Where the input
/// is not there yet, nothing is known of its axes.
void add_levels(const PreparedJob& prepared, Prober& prober, PlannedEnd& end) {
    OutputDataset output = output_dataset(prepared);
    const FolderOfChunks* const folder =
        is_in_slices(output.layout) ? nullptr : folder_of(output.layout);
    if (output.layout.pyramid.levels == 1 && folder == nullptr) {
        return;
    }
    if (!prepared.input_is_missing) {
        output.axes = output::output_axes(prepared, prober);
    }
    if (folder != nullptr) {
        end.files = folder->files(output);
        end.bytes = byte_count(output.array);
    }
    for (const CoarserLevel& coarser : coarser_levels(output)) {
        end.levels.push_back(coarser.dataset.array.shape);
        if (folder != nullptr) {
            *end.files += folder->files(coarser.dataset);
            end.bytes += byte_count(coarser.dataset.array);
        }
    }
}

PlannedEnds ends_of(const PreparedJob& prepared, Prober& prober) {
    const JobFile& file = prepared.file;
    PlannedEnds ends{
        {file.input.file, file.input.dataset, prepared.input.array, invalid_input_text(prepared)},
        {}};
    for (const OutputField& field : prepared.fields()) {
        ends.to.push_back({file.output.file, field.dataset, field.array});
    }
    if (ends.to.empty()) {
        ends.to.push_back({file.output.file, file.output.dataset, prepared.output(),
                           invalid_text(prepared.output(), prepared.job->invalid())});
        ends.to.back().kept = prepared.kept;
        add_levels(prepared, prober, ends.to.back());
    }
    return ends;
}

std::string disk_text(const DiskSpace& disk) {
    return std::string("  disk: needs ") + (disk.least < disk.needed ? "at most " : "") +
           size_text(disk.needed) + ", " + size_text(disk.free) + " free\n";
}

/// How many files a set of slices is.
std::string slices_text(const PreparedJob& prepared) {
    const OutputLayout& layout = prepared.file.output.layout;
    if (!is_in_slices(layout)) {
        return "";
    }
    const std::int64_t count =
        folder_of(layout)->files({prepared.file.output.file, "", prepared.output(), layout});
    return ", in " + counted(count, "slice");
}

std::string end_text(const PlannedEnd& end) {
    std::string text = array_name(end.file, end.dataset) + ", " + type_text(end.array) + " " +
                       shape_text(end.array.shape);
    return printable(text);
}

std::string levels_text(const PlannedEnd& end) {
    const std::string files =
        end.files ? ", " + counted(*end.files, "file") + " of elements, " + size_text(end.bytes)
                  : "";
    return end.levels.empty() ? files
                              : ", in " + std::to_string(end.levels.size() + 1) +
                                    " levels down to " + shape_text(end.levels.back()) + files;
}

/// From which dataset to which; of several that are written, each.
std::string ends_text(const PreparedJob& prepared, const PlannedEnds& ends) {
    const auto& [from, to] = ends;
    std::string text =
        "reads " + end_text(from) +
        (prepared.part ? printable(", the part " + part_text(*prepared.part)) : "") +
        (prepared.input.axes.known() ? ", axes " + printable(prepared.input.axes.text()) : "") +
        (prepared.roles.known() ? ", of a scan of " + prepared.roles.counts_text() : "") + "\n";
    if (!from.invalid.empty()) {
        text += "  invalid elements: " + printable(from.invalid) + "\n";
    }
    for (const PlannedEnd& end : to) {
        text += "writes " + end_text(end) + slices_text(prepared) + levels_text(end) +
                (prepared.kept ? prepared.kept->plan_text() : "") + "\n";
        if (!end.invalid.empty()) {
            text += "  invalid elements: " + printable(end.invalid) + "\n";
        }
    }
    return text;
}

/// How many files hold the elements, or that one alone does.
std::string parts_text(const PreparedJob& prepared, int ranks, int cores) {
    const JobFile::Output& output = prepared.file.output;
    const PartLayout parts = planned_parts(prepared, ranks, cores);
    if (parts.several()) {
        const std::int64_t rows = rows_for_all_parts(prepared.output(), parts);
        return fmt::format(
            "  in {} parts in {}, blocks of rows in turn; {} ({}) reach all of a rank\n",
            parts.parts, printable(parts.folder), counted(rows, "row"),
            size_text(rows * row_bytes(prepared.output())));
    }
    const bool can_have = output.layout.compression == Compression::none &&
                          output.layout.is_hdf5() && prepared.fields().empty();
    const std::int64_t automatic = automatic_parts(byte_count(prepared.output()), ranks, cores);
    return can_have && output.parts && automatic > 1
               ? fmt::format("  in one file, which Linux lets one thread write at a time; "
                             "output.parts = \"auto\" would write {} at once\n",
                             automatic)
               : "";
}

/// By the rates that `runner devices --measure` has kept: of its GPUs, the one with the slowest
/// link.
std::optional<LinkTime> link_time(const JobPlan& plan) {
    const std::vector<DeviceRates> kept =
        plan.backend == Backend::cuda ? all_kept_rates() : std::vector<DeviceRates>();
    if (kept.empty()) {
        return std::nullopt;
    }
    const auto slowest =
        std::min_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
            return a.both_ways_bytes < b.both_ways_bytes;
        });
    const double all = least_link_seconds(*slowest, static_cast<double>(plan.bytes_to_read()),
                                          static_cast<double>(plan.bytes_to_write()));
    return LinkTime{all / plan.rank_count(), slowest->name, slowest->measured};
}

std::string link_text(const std::optional<LinkTime>& link, int ranks) {
    constexpr std::size_t date = 10; // characters of yyyy-mm-dd
    return link ? fmt::format(
                      "  link: at least {:.2g} s between host and {}, at the rates of {} of {}\n",
                      link->seconds, counted(ranks, "GPU"), printable(link->device),
                      printable(link->measured.substr(0, date)))
                : "";
}

std::string memory_text(const StepMemory& step) {
    return "takes " + size_text(step.lane_bytes) + " in a lane" +
           (step.kept_bytes > 0 ? ", " + size_text(step.kept_bytes) + " for all lanes" : "") +
           (step.carried_bytes > 0
                ? fmt::format(", carries {} ({}) from chunk to chunk",
                              counted(step.carried_rows, "row"), size_text(step.carried_bytes))
                : "");
}

/// Which steps the pass has, what they take, and why no more; nothing for a job of one kind.
std::string steps_text(const std::vector<JobPass>& passes, std::size_t index,
                       const std::vector<StepFacts>& steps) {
    const JobPass& pass = passes[index];
    std::string text;
    if (passes.size() > 1) {
        text += (index == 0 ? "" : "\n") + std::string("pass ") + std::to_string(index + 1) +
                " of " + std::to_string(passes.size()) +
                (pass.end.empty() ? "" : ", which ends before " + pass.end) + "\n";
    }
    for (const StepFacts& step : steps) {
        text += "  " + step.label + ": " + step_text(step) + "\n    " + work_text(step.axes) + "\n";
        if (step.memory) {
            text += "    " + memory_text(*step.memory) + "\n";
        }
    }
    return printable_lines(text);
}

/// What a job of one kind does along each axis of its input; nothing of a pipeline, whose steps say
/// so themselves.
std::vector<AxisWork> work_of_one_kind(const PreparedJob& prepared, const JobPass& pass) {
    return pass.steps.empty() ? work_of(*prepared.job, prepared.input.array, prepared.input.axes)
                              : std::vector<AxisWork>();
}

std::string axes_text(const std::vector<AxisWork>& axes) {
    return axes.empty() ? "" : "  " + printable(work_text(axes)) + "\n";
}

/// What the job takes from the input's file for keys that are left out.
std::string found_text(const Job& job) {
    std::string text;
    for (const std::string& line : job.found()) {
        text += "  " + printable(line) + "\n";
    }
    return text;
}

} // namespace

PlanReport plan_report(const PlanCommand& command) {
    JobFile file = load_job_file(command.job, command.settings);
    require_one_dataset(file);
    const Backend backend = planned_backend(command, file);
    const RankLimits limits = planned_limits(command, file, backend);
    take_command_limits(command, file);
    check_file_names(file, {}, std::nullopt);
    Prober prober;
    ProbedFiles files(prober, file.input.rules);
    const std::vector<JobPass> passes = passes_of(file, files);
    PlanReport report;
    std::vector<PlannedPass> planned;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const PreparedJob prepared = prepare_pass(passes[i], files);
        const PlanPtr plan = plan_job(prepared, backend, command.ranks, limits);
        const DiskSpace disk = sufficient_disk_space(prepared, plan->scratch_bytes());
        const ReadingCost cost = cost_of(prepared, *plan);
        const std::vector<std::string> advice = advice_on(prepared, *plan, cost);
        const std::optional<LinkTime> link = link_time(*plan);
        const std::vector<AxisWork> axes = work_of_one_kind(prepared, passes[i]);
        const PlannedEnds ends = ends_of(prepared, prober);
        const std::vector<StepFacts> steps = with_memory(prepared, *plan, passes[i].steps);
        planned.push_back({plan, disk, ends, steps, axes, passes[i].end, cost, advice, link,
                           prepared.job->found()});
        report.text += steps_text(passes, i, steps) + ends_text(prepared, ends) + axes_text(axes) +
                       found_text(*prepared.job) +
                       parts_text(prepared, command.ranks, limits.cores) + plan->text() +
                       reading_text(cost, advice) + link_text(link, plan->rank_count()) +
                       disk_text(disk);
        report.notes.insert(report.notes.end(), prepared.input.notes.begin(),
                            prepared.input.notes.end());
        if (std::string doubt = disk.doubt(); !doubt.empty()) {
            report.notes.push_back(std::move(doubt));
        }
    }
    if (command.json) {
        report.text = plan_json(planned);
    }
    return report;
}

std::vector<std::string> found_comments(const JobFile& file) {
    if (file.pipeline || file.batch) {
        return {};
    }
    try {
        Prober prober;
        ProbedFiles files(prober, file.input.rules);
        return prepare_job(file, files).job->found();
    } catch (const Error&) { // a run or its plan says it
        return {};
    }
}

std::vector<std::string> step_comments(const JobFile& file) {
    std::vector<std::string> comments;
    if (!file.pipeline || file.batch) {
        return comments;
    }
    try {
        Prober prober;
        ProbedFiles files(prober, file.input.rules);
        const std::vector<JobPass> passes = passes_of(file, files);
        for (std::size_t i = 0; i < passes.size(); ++i) {
            for (const StepFacts& step : passes[i].steps) {
                comments.push_back(step.label + ": " + step_text(step) +
                                   (passes.size() > 1 ? ", in pass " + std::to_string(i + 1) : ""));
                for (const std::string& line : step.job->found()) {
                    comments.back() += "\n# " + line;
                }
            }
        }
    } catch (const Error& error) {
        if (error.code() != ExitCode::input) {
            throw;
        }
        comments.assign(file.pipeline->steps().size(), "types and shapes are not known");
        comments.front() += ": " + printable(error.what());
    }
    return comments;
}

} // namespace runner::cli
