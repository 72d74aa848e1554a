// SPDX-License-Identifier: BSD-3-Clause
#include "slurm/submit.hpp"

#include "base/durations.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/files/text_file.hpp"
#include "runner/batch/batch_plan.hpp"
#include "runner/engines/engine.hpp"
#include "runner/job_file/file_names.hpp"
#include "runner/job_file/output_name.hpp"
#include "runner/prepare/disk_space.hpp"
#include "runner/prepare/passes.hpp"
#include "runner/probe/probed_files.hpp"
#include "slurm/profile.hpp"
#include "slurm/sbatch.hpp"
#include "slurm/site_file.hpp"
#include "slurm/submission.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

namespace runner::slurm {
namespace {

namespace fs = std::filesystem;

/// A job, or the batch's largest dataset, planned for the site.
struct Sized {
    Allocation allocation;
    Work work;    ///< all that is to be done
    Work largest; ///< of one dataset
    std::vector<std::string> notes;
};

JobFile load(const SubmitCommand& command, const std::string& path) {
    JobFile job = load_job_file(path, command.settings);
    if (command.array && !job.batch) {
        throw Error(ExitCode::usage, {"the job is of one dataset", job.path,
                                      "it has no table [batch] for the tasks of an array to share",
                                      "Leave --array out, or add [batch] (docs/batch.md)"});
    }
    return job;
}

Backend backend_for(const SubmitCommand& command, const SiteFile& site, const JobFile& job) {
    return site_backend(site, command.backend.value_or(job.run.backend));
}

std::vector<PreparedJob> prepare_passes(const JobFile& job, FileAccess& files) {
    std::vector<PreparedJob> prepared;
    for (const JobPass& pass : passes_of(job, files)) {
        prepared.push_back(prepare_pass(pass, files));
    }
    return prepared;
}

/// The plan of the pass that takes most of the host's memory; each fits, as it runs by itself.
PlanPtr largest_plan(const std::vector<PreparedJob>& passes, Backend backend, int ranks,
                     const RankLimits& limits) {
    PlanPtr largest;
    for (const PreparedJob& pass : passes) {
        PlanPtr plan = plan_job(pass, backend, ranks, limits);
        if (!largest || plan->need.host() > largest->need.host()) {
            largest = std::move(plan);
        }
    }
    return largest;
}

Sized size_job(const SubmitCommand& command, const SiteFile& site, const JobFile& job) {
    check_file_names(job, {}, std::nullopt);
    const Backend backend = backend_for(command, site, job);
    Prober prober;
    ProbedFiles files(prober, job.input.rules);
    const std::vector<PreparedJob> passes = prepare_passes(job, files);
    const RankLimits limits = site_limits(site, backend);
    Sized sized;
    sized.allocation = allocate(site, backend, job.run, command.nodes, [&](int ranks) {
        return largest_plan(passes, backend, ranks, limits);
    });
    for (const PreparedJob& pass : passes) {
        const PlanPtr plan = plan_job(pass, backend, sized.allocation.all_ranks(), limits);
        const DiskSpace disk = sufficient_disk_space(pass, plan->scratch_bytes());
        sized.work.add(work_of(*plan));
        sized.notes.insert(sized.notes.end(), pass.input.notes.begin(), pass.input.notes.end());
        if (std::string doubt = disk.doubt(); !doubt.empty()) {
            sized.notes.push_back(std::move(doubt));
        }
    }
    return sized;
}

batch::Plan plan_for_site(const SubmitCommand& command, const SiteFile& site, JobFile job) {
    batch::Means means;
    means.backend = backend_for(command, site, job);
    means.limits = site_limits(site, means.backend);
    means.ranks = command.nodes.value_or(site.limits.nodes) * ranks_a_node(site, means.backend);
    const batch::History history = batch::read_history(job.batch->state);
    Prober prober;
    batch::Plan plan = batch::list_batch(std::move(job), command.settings, history, [] {});
    batch::look_at_datasets(plan, batch::unknown_datasets(plan, {}), means, prober, [] {});
    batch::check_disk(plan);
    return plan;
}

bool is_to_do(const batch::PlannedDataset& planned) {
    return planned.fate == batch::Fate::to_do || planned.fate == batch::Fate::redo;
}

/// By its largest dataset: `plan` has one to do.
Sized size_batch(const SubmitCommand& command, const SiteFile& site, const batch::Plan& plan) {
    Sized sized;
    const batch::PlannedDataset* largest = nullptr;
    for (const batch::PlannedDataset& planned : plan.datasets) {
        if (is_to_do(planned)) {
            sized.work.bytes += static_cast<double>(planned.listed.bytes);
            if (largest == nullptr || planned.listed.bytes > largest->listed.bytes) {
                largest = &planned;
            }
        }
    }
    sized.largest.bytes = static_cast<double>(largest->listed.bytes);
    Prober prober;
    ProbedFiles files(prober, plan.job.input.rules);
    const JobFile job = batch::job_for(largest->dataset, plan.job, plan.settings);
    const std::vector<PreparedJob> passes = prepare_passes(job, files);
    const Backend backend = backend_for(command, site, plan.job);
    const RankLimits limits = site_limits(site, backend);
    sized.allocation = allocate(site, backend, job.run, command.nodes, [&](int ranks) {
        try { // beside others, as most are run
            return largest_plan(passes, backend, 1, limits);
        } catch (const Error&) {
            return largest_plan(passes, backend, ranks, limits);
        }
    });
    return sized;
}

/// Slurm's time limit: as the command line says, or by the profile, or the site's longest.
void set_time(const SubmitCommand& command, const SiteFile& site, const std::string& kind,
              int side_by_side, Sized& sized) {
    const SiteFile::Limits& limits = site.limits;
    double& seconds = sized.allocation.seconds;
    seconds = limits.seconds;
    if (command.seconds) {
        seconds = *command.seconds;
        if (seconds > limits.seconds || seconds <= limits.stop_seconds) {
            throw Error(ExitCode::usage,
                        {"the time does not fit the site", site.path,
                         "--time is " + duration_text(seconds) + ", limits.time " +
                             duration_text(limits.seconds) + " and limits.stop_before " +
                             duration_text(limits.stop_seconds),
                         "Give a time between these two"});
        }
    }
    if (!command.profile) {
        return;
    }
    const Profile profile = read_profile(*command.profile);
    if (profile.kind != kind) {
        throw Error(ExitCode::usage, {"the profile is of another kind of job", profile.path,
                                      "it is of " + profile.kind + " and the job of " + kind, ""});
    }
    const double expected =
        side_by_side > 0 ? expected_batch_seconds(profile, sized.work, sized.largest, side_by_side)
                         : expected_seconds(profile, sized.work, sized.allocation.all_ranks());
    seconds = std::min(expected + limits.stop_seconds, limits.seconds);
    if (expected > seconds) {
        const double goes = std::ceil(expected / (seconds - limits.stop_seconds));
        sized.notes.push_back(
            "by the profile it may take " + duration_text(expected) +
            ", longer than the site allows a job: it is then stopped and "
            "queued again" +
            (goes - 1 > limits.requeues ? ", more often than limits.requeues" : ""));
    }
}

std::string program_path(const SiteFile& site) {
    if (!site.program.empty()) {
        return site.program;
    }
    std::error_code failure;
    const fs::path self = fs::read_symlink("/proc/self/exe", failure);
    if (failure) {
        throw Error(ExitCode::launch, {"cannot tell this program's path", "/proc/self/exe",
                                       failure.message(), "Set program in the site file"});
    }
    return self.string();
}

std::vector<std::string> arguments_of(const SubmitCommand& command, const std::string& job,
                                      bool is_batch) {
    std::vector<std::string> arguments = {is_batch ? "batch" : "run", job};
    for (const std::string& setting : command.settings) {
        arguments.insert(arguments.end(), {"--set", setting});
    }
    if (command.backend && *command.backend != BackendChoice::automatic) {
        arguments.insert(arguments.end(),
                         {"--backend", *command.backend == BackendChoice::cuda ? "cuda" : "cpu"});
    }
    return arguments;
}

void go_to(const std::string& folder) {
    std::error_code failure;
    fs::current_path(folder, failure);
    if (failure) {
        throw Error(ExitCode::usage, {"cannot go to the site's scratch folder", folder,
                                      failure.message(), "Make it, or correct scratch"});
    }
}

std::string allocation_text(const Submission& submission) {
    const Allocation& a = submission.allocation;
    std::string text;
    if (submission.array) {
        text = counted(submission.array->tasks, "task") + " of ";
    }
    return text + counted(a.nodes, "node") + ", a node: " + counted(a.ranks, "rank") + " of " +
           counted(a.cpus, "cpu") + ", " + (a.gpus > 0 ? counted(a.gpus, "GPU") + ", " : "") +
           size_text(a.memory) + "; " + duration_text(a.seconds);
}

std::string command_text(const std::vector<std::string>& arguments) {
    std::string text = "sbatch";
    for (const std::string& argument : arguments) {
        text += " " + shell_word(argument);
    }
    return text + "\n";
}

std::string scripts_text(const Submission& submission, const SiteFile& site) {
    std::string text = "### " + script_path(submission) + "\n" + batch_script(submission, site);
    if (submission.array) {
        text += "\n### " + summary_path(submission) + "\n" + summary_script(submission, site);
    }
    text += "\n### " + allocation_text(submission) + "\n";
    text += command_text(sbatch_arguments(submission));
    if (submission.array) {
        text += command_text(summary_arguments(submission, "NUMBER"));
    }
    return text;
}

void write_scripts(const Submission& submission, const SiteFile& site) {
    std::error_code failure;
    // Slurm makes no folder for a log: the job would fail without a word.
    fs::create_directories(submission.logs, failure);
    if (failure) {
        throw Error(ExitCode::output, {"cannot make the folder of logs", submission.logs,
                                       failure.message(), "Correct logs in the site file"});
    }
    write_text_file(script_path(submission), batch_script(submission, site));
    if (submission.array) {
        write_text_file(summary_path(submission), summary_script(submission, site));
    }
}

std::string hand_over(const Submission& submission, const SiteFile& site) {
    write_scripts(submission, site);
    const std::string id = run_sbatch(sbatch_arguments(submission));
    std::string text = "job " + id + ": " + printable(submission.name) + ", " +
                       allocation_text(submission) + "\n  logs in " + printable(submission.logs) +
                       "\n";
    if (submission.array) {
        const std::string summary = run_sbatch(summary_arguments(submission, id));
        text += "job " + summary + ": says how far the batch is once the array has ended\n";
    }
    return text;
}

/// A name in a script means the same wherever the script is read.
std::string whole_path(const fs::path& path) {
    return fs::absolute(path).lexically_normal().string();
}

Submission submission_for(const SubmitCommand& command, const SiteFile& site,
                          const std::string& job_path, const JobFile& job) {
    Submission submission;
    submission.name = job.name;
    submission.program = program_path(site);
    submission.arguments = arguments_of(command, job_path, job.batch.has_value());
    submission.folder = fs::current_path().string();
    submission.logs = whole_path(site.logs);
    if (job.batch) {
        submission.state = whole_path(job.batch->state);
        submission.page = command.report;
        submission.stop_files = {
            whole_path(fs::path(job.batch->state) / "STOP"),
            whole_path(fs::path(common_folder(job.batch->output.text)) / "STOP")};
    } else {
        if (command.report) {
            submission.arguments.insert(submission.arguments.end(), {"--report", *command.report});
        }
        submission.stop_files = {whole_path(stop_beside(job.output.file))};
        for (const StepParameters& step :
             job.pipeline ? job.pipeline->steps() : std::vector<StepParameters>{}) {
            if (!step.save.empty()) {
                submission.stop_files.push_back(whole_path(stop_beside(step.save)));
            }
        }
    }
    return submission;
}

} // namespace

SubmitReport submit(const SubmitCommand& given) {
    SubmitCommand command = given;
    const SiteFile site = load_site_file(command.site);
    if (command.profile) {
        command.profile = fs::absolute(*command.profile).string();
    }
    if (command.report) {
        command.report = whole_path(*command.report);
    }
    const std::string job_path = whole_path(command.job);
    if (!site.scratch.empty()) {
        go_to(site.scratch);
    }
    JobFile job = load(command, site.scratch.empty() ? command.job : job_path);
    if (job.batch && command.report && !command.report->ends_with(".html")) {
        throw Error(ExitCode::usage, {"cannot report the batch", *command.report,
                                      "the report of a batch is a page", "End its name in .html"});
    }
    Submission submission = submission_for(command, site, job_path, job);
    check_script_values(submission, site);
    const std::string kind = job.kind;
    SubmitReport report;
    Sized sized;
    int side_by_side = 0;
    if (job.batch) {
        const batch::Plan plan = plan_for_site(command, site, std::move(job));
        report.text = batch::batch_plan_text(plan);
        const auto to_do = static_cast<int>(
            std::min<std::int64_t>(plan.count(batch::Fate::to_do) + plan.count(batch::Fate::redo),
                                   site.limits.array_tasks));
        if (to_do == 0) {
            const auto refused =
                std::find_if(plan.datasets.begin(), plan.datasets.end(), [](const auto& planned) {
                    return planned.fate == batch::Fate::refused;
                });
            report.text += "nothing to submit\n";
            report.code = refused == plan.datasets.end() ? ExitCode::ok : refused->code;
            return report;
        }
        sized = size_batch(command, site, plan);
        side_by_side = sized.allocation.all_ranks();
        if (command.array) {
            submission.array = {std::min(*command.array, to_do), command.throttle};
            side_by_side *= std::min(submission.array->tasks, command.throttle.value_or(to_do));
        }
    } else {
        sized = size_job(command, site, job);
    }
    set_time(command, site, kind, side_by_side, sized);
    submission.allocation = sized.allocation;
    report.notes = std::move(sized.notes);
    report.text += command.dry_run ? scripts_text(submission, site) : hand_over(submission, site);
    return report;
}

} // namespace runner::slurm
