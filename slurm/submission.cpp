// SPDX-License-Identifier: BSD-3-Clause
#include "slurm/submission.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace runner::slurm {
namespace {

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string header(const std::string& option, const std::string& value = "") {
    return "#SBATCH --" + option + (value.empty() ? "" : "=" + value) + "\n";
}

std::string header_if(const std::string& option, const std::string& value) {
    return value.empty() ? "" : header(option, shell_word(value));
}

/// sbatch reads a script by lines, and so may say another line than was meant.
void check_value(const std::string& what, const std::string& value) {
    const auto is_control = [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 0x20 || code == 0x7f;
    };
    if (std::any_of(value.begin(), value.end(), is_control)) {
        throw Error(ExitCode::usage, {"cannot write a batch script", what,
                                      "it has a line break or another control character: " + value,
                                      "Rename it, or give another value"});
    }
}

void check_values(const std::string& what, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
        check_value(what, value);
    }
}

/// As sbatch reads a time: whole minutes, upwards.
std::string time_text(double seconds) {
    constexpr long hour = 60;
    constexpr long day = 24 * hour;
    const long minutes = std::lround(std::ceil(seconds / 60));
    char text[64]; // NOLINT(modernize-avoid-c-arrays): for snprintf
    (void)std::snprintf(text, sizeof text, "%ld-%02ld:%02ld:00", minutes / day,
                        minutes % day / hour, minutes % hour);
    return text;
}

/// In the name of a log a percent sign begins a pattern of Slurm's, and what stands in the folder's
/// name is not one.
std::string log_path(const Submission& submission, const std::string& pattern) {
    std::string path;
    for (const char c : submission.logs + "/") {
        path += c == '%' ? "%%" : std::string(1, c);
    }
    return shell_word(path + pattern);
}

std::string gpu_header(const SiteFile::Node& node, int gpus) {
    if (gpus == 0) {
        return "";
    }
    const std::string count =
        fmt::format("{}{}", (node.gpu_type.empty() ? "" : shell_word(node.gpu_type) + ":"), gpus);
    return node.gres ? header("gres", "gpu:" + count) : header("gpus-per-node", count);
}

std::string preparation(const SiteFile& site) {
    std::string text;
    for (const std::string& module : site.modules) {
        text += "module load " + shell_word(module) + " || exit 6\n";
    }
    for (const auto& [name, value] : site.environment) {
        text += "export " + name + "=" + shell_word(value) + "\n";
    }
    return text.empty() ? "" : text + "\n";
}

std::string first_line(const SiteFile& site) {
    // `module` comes with a login shell.
    return site.modules.empty() ? "#!/bin/bash\n" : "#!/bin/bash -l\n";
}

std::string words(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& each : all) {
        text += " " + shell_word(each);
    }
    return text;
}

/// Writes the report of a batch, whatever has become of it.
std::string page_text(const Submission& submission) {
    if (!submission.page) {
        return "";
    }
    return shell_word(submission.program) +
           words({"report", submission.state.value_or("."), "--page", *submission.page}) +
           " >/dev/null\n";
}

/// The program is started with a limit of its own: at Slurm's signal it finishes the chunks in
/// flight, and when half of the time from there to Slurm's limit has passed, it drops those that
/// cannot end. The other half is for the launcher's start, which the program's clock does not see,
/// and for the last commit.
std::string command(const Submission& submission, const SiteFile& site) {
    const double seconds = submission.allocation.seconds - site.limits.stop_seconds / 2;
    return fmt::format("{}{} --max-time {}s", shell_word(submission.program),
                       words(submission.arguments), std::max(1L, std::lround(std::floor(seconds))));
}

std::string srun_text(const Submission& submission, const SiteFile& site) {
    return fmt::format(
        "srun --mpi={} --kill-on-bad-exit=1 --cpus-per-task={}{} \\\n  {}\nstatus=$?\n",
        shell_word(site.launcher.mpi), submission.allocation.cpus, words(site.launcher.options),
        command(submission, site));
}

std::string mpirun_text(const Submission& submission, const SiteFile& site) {
    const Allocation& allocation = submission.allocation;
    return fmt::format("mpirun -n {} --map-by ppr:{}:node --bind-to none{} \\\n  {} "
                       "&\nlauncher=$!\ntold=\ntrap 'told=1; kill -USR1 \"$launcher\"' USR1\nwait "
                       "\"$launcher\"\nstatus=$?\nif [ -n \"$told\" ]; then # the signal ended the "
                       "wait, not the launcher\n  wait \"$launcher\"\n  status=$?\nfi\n",
                       allocation.all_ranks(), allocation.ranks, words(site.launcher.options),
                       command(submission, site));
}

std::string requeue_text(const Submission& submission, const SiteFile& site) {
    std::string unless_stopped;
    for (const std::string& file : submission.stop_files) {
        unless_stopped += " &&\n  [ ! -e " + shell_word(file) + " ]";
    }
    return fmt::format(
        "\n# 75: it stopped in time, and resumes when it runs again.\nif [ \"$status\" -eq 75 ] && "
        "[ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {} ]{}; then\n  scontrol requeue "
        "\"${{SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}}${{SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}}"
        "\"\nfi\nexit \"$status\"\n",
        site.limits.requeues, unless_stopped);
}

} // namespace

std::string plain_name(const std::string& name) {
    std::string plain = name;
    std::replace_if(
        plain.begin(), plain.end(),
        [](char c) { return !is_plain(c) && std::string_view("._-").find(c) == std::string::npos; },
        '_');
    if (plain.empty() || plain.front() == '-' || plain.front() == '.') {
        plain.insert(plain.begin(), '_');
    }
    return plain;
}

void check_script_values(const Submission& submission, const SiteFile& site) {
    check_value("the working folder", submission.folder);
    check_value("the program's path", submission.program);
    check_values("the job file or a setting", submission.arguments);
    check_value("the folder of logs", submission.logs);
    check_value("the batch's state folder", submission.state.value_or(""));
    check_value("the report's path", submission.page.value_or(""));
    check_values("the place of a STOP file", submission.stop_files);
    check_values("the site file, " + site.path,
                 {site.partition, site.account, site.qos, site.constraint, site.reservation,
                  site.summary_partition, site.node.gpu_type, site.launcher.mpi});
    check_values("options of the site file, " + site.path, site.options);
    check_values("modules of the site file, " + site.path, site.modules);
    check_values("launcher.options of the site file, " + site.path, site.launcher.options);
    for (const auto& [name, value] : site.environment) {
        check_values("environment of the site file, " + site.path, {name, value});
    }
}

std::string batch_script(const Submission& submission, const SiteFile& site) {
    check_script_values(submission, site);
    const Allocation& allocation = submission.allocation;
    const bool srun = site.launcher.name == SiteFile::Launcher::Name::srun;
    std::string text = first_line(site);
    text += header("job-name", plain_name(submission.name));
    text += header_if("partition", site.partition) + header_if("account", site.account) +
            header_if("qos", site.qos) + header_if("constraint", site.constraint) +
            header_if("reservation", site.reservation);
    text += header("nodes", std::to_string(allocation.nodes));
    text += header("ntasks-per-node", std::to_string(allocation.ranks));
    text += gpu_header(site.node, allocation.gpus);
    text += header("cpus-per-task", std::to_string(allocation.cpus));
    text += header("mem", fmt::format("{}M", allocation.memory / MiB));
    text += header("time", time_text(allocation.seconds));
    // To the ranks; mpirun's are told by it, and it by the script.
    text += header("signal", fmt::format("{}{}", (srun ? "USR1@" : "B:USR1@"),
                                         std::lround(site.limits.stop_seconds)));
    text += header("requeue");
    text += header("open-mode", "append");
    if (submission.array) {
        text += header("array", fmt::format("0-{}{}", submission.array->tasks - 1,
                                            (submission.array->at_once
                                                 ? "%" + std::to_string(*submission.array->at_once)
                                                 : "")));
    }
    text += header("chdir", shell_word(submission.folder));
    text += header("output", log_path(submission, submission.array ? "%x-%A_%a.out" : "%x-%j.out"));
    for (const std::string& option : site.options) {
        text += "#SBATCH " + option + "\n";
    }
    text += "\n" + preparation(site);
    text += srun ? srun_text(submission, site) : mpirun_text(submission, site);
    text += submission.array ? "" : page_text(submission);
    return text + requeue_text(submission, site);
}

std::string summary_script(const Submission& submission, const SiteFile& site) {
    check_script_values(submission, site);
    constexpr double seconds = 10 * 60;
    std::string text = first_line(site);
    text += header("job-name", plain_name(submission.name) + "-summary");
    text += header_if("partition",
                      site.summary_partition.empty() ? site.partition : site.summary_partition) +
            header_if("account", site.account) + header_if("qos", site.qos) +
            header_if("reservation", site.reservation);
    text += header("nodes", "1") + header("ntasks", "1") + header("cpus-per-task", "1") +
            header("mem", "1024M");
    text += header("time", time_text(std::min(seconds, site.limits.seconds)));
    text += header("chdir", shell_word(submission.folder));
    text += header("output", log_path(submission, "%x-%j.out"));
    text += "\n" + preparation(site);
    text += page_text(submission);
    return text + shell_word(submission.program) + " status --require-done " +
           shell_word(submission.state.value_or(".")) + "\n";
}

std::string script_path(const Submission& submission) {
    return submission.logs + "/" + plain_name(submission.name) + ".sbatch";
}

std::string summary_path(const Submission& submission) {
    return submission.logs + "/" + plain_name(submission.name) + "-summary.sbatch";
}

std::vector<std::string> sbatch_arguments(const Submission& submission) {
    return {"--parsable", script_path(submission)};
}

std::vector<std::string> summary_arguments(const Submission& submission,
                                           const std::string& array_id) {
    return {"--parsable", "--dependency=afterany:" + array_id, "--kill-on-invalid-dep=yes",
            summary_path(submission)};
}

} // namespace runner::slurm
