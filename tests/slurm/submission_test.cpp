// SPDX-License-Identifier: BSD-3-Clause
#include "slurm/submission.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/plan/stream_plan.hpp"
#include "slurm/profile.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

namespace runner::slurm {
namespace {

namespace fs = std::filesystem;

constexpr const char* usual_site = R"(partition = "gpu"
account = "p1"
options = ["--exclusive", "--comment='a b'"]
modules = ["openmpi/4.1.4"]
[node]
cpus = 64
memory = "480GiB"
gpus = 4
gpu_memory = "80GiB"
gpu_type = "h100"
[limits]
time = "24h"
nodes = 8
[environment]
A = "it's"
)";

Submission usual_submission() {
    Submission submission;
    submission.name = "scans 1";
    submission.program = "/opt/runner";
    submission.arguments = {"run", "/home/me/job.toml", "--set", "input.file=\"a b.h5\""};
    submission.folder = "/scratch/me";
    submission.logs = "/scratch/me/50%";
    submission.stop_files = {"out/STOP"};
    submission.allocation = {2, 4, 4, 16, 96 * GiB, 3 * 3600 + 1};
    return submission;
}

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string said(const std::string& site) {
    try {
        parse_site_text(site, "s.toml");
        return "";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
}

TEST(BatchScript, HasAllThatAJobNeeds) {
    EXPECT_EQ(batch_script(usual_submission(), parse_site_text(usual_site, "s.toml")),
              R"(#!/bin/bash -l
#SBATCH --job-name=scans_1
#SBATCH --partition=gpu
#SBATCH --account=p1
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=h100:4
#SBATCH --cpus-per-task=16
#SBATCH --mem=98304M
#SBATCH --time=0-03:01:00
#SBATCH --signal=USR1@180
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --chdir=/scratch/me
#SBATCH --output=/scratch/me/50%%/%x-%j.out
#SBATCH --exclusive
#SBATCH --comment='a b'

module load openmpi/4.1.4 || exit 6
export A='it'\''s'

srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task=16 \
  /opt/runner run /home/me/job.toml --set 'input.file="a b.h5"' --max-time 10711s
status=$?

# 75: it stopped in time, and resumes when it runs again.
if [ "$status" -eq 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 20 ] &&
  [ ! -e out/STOP ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}"
fi
exit "$status"
)");
}

/// Behind Slurm's signal and before Slurm's limit, which --time gives in whole minutes.
TEST(BatchScript, EndsTheProgramHalfwayFromTheSignalToTheLimit) {
    SiteFile site = parse_site_text(usual_site, "s.toml");
    Submission submission = usual_submission();
    for (const auto& [limit, stop_before, max_time] :
         {std::array{7200.0, 600.0, 6900.0}, {120.0, 119.0, 60.0}, {61.0, 2.0, 60.0}}) {
        submission.allocation.seconds = limit;
        site.limits.stop_seconds = stop_before;
        const std::string script = batch_script(submission, site);
        std::smatch found;
        ASSERT_TRUE(std::regex_search(script, found, std::regex("runner .* --max-time (\\d+)s\n")))
            << script;
        EXPECT_EQ(std::stod(found[1]), max_time);
        EXPECT_GT(max_time, limit - stop_before);
        EXPECT_LT(max_time, limit);
    }
}

TEST(BatchScript, OfAnArrayUnderMpirunIsToldBySlurmItself) {
    SiteFile site = parse_site_text(usual_site, "s.toml");
    site.launcher.name = SiteFile::Launcher::Name::mpirun;
    site.node.gres = true;
    site.modules.clear();
    Submission submission = usual_submission();
    submission.array = {8, 3};
    const std::string script = batch_script(submission, site);
    for (const char* line :
         {"#!/bin/bash\n", "#SBATCH --gres=gpu:h100:4\n", "#SBATCH --array=0-7%3\n",
          "#SBATCH --signal=B:USR1@180\n", "/%x-%A_%a.out\n",
          "\nmpirun -n 8 --map-by ppr:4:node --bind-to none \\\n",
          "trap 'told=1; kill -USR1 \"$launcher\"' USR1\n"}) {
        EXPECT_NE(script.find(line), std::string::npos) << line << "\n" << script;
    }
    EXPECT_EQ(script.find("srun"), std::string::npos);
}

TEST(BatchScript, HoldsNoValueThatWouldBeALineOfItsOwn) {
    const SiteFile site = parse_site_text(usual_site, "s.toml");
    const auto refused = [&](const Submission& submission, const SiteFile& of) {
        for (const auto& script : {batch_script, summary_script}) {
            try {
                (void)script(submission, of);
                return false;
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ExitCode::usage);
                EXPECT_EQ(std::string(error.what()).find_first_of("\n\x1b"), std::string::npos);
            }
        }
        return true;
    };
    for (const std::string bad : {"a\ntouch x", "a\rb", "\x1b[2J", "a\x7f"}) {
        for (std::string Submission::*value :
             {&Submission::program, &Submission::folder, &Submission::logs}) {
            Submission submission = usual_submission();
            submission.*value = bad;
            EXPECT_TRUE(refused(submission, site));
        }
        Submission submission = usual_submission();
        submission.arguments.push_back(bad);
        EXPECT_TRUE(refused(submission, site));
        submission = usual_submission();
        submission.stop_files = {bad};
        EXPECT_TRUE(refused(submission, site));
        submission = usual_submission();
        submission.state = bad;
        EXPECT_TRUE(refused(submission, site));
        for (std::string SiteFile::*value : {&SiteFile::partition, &SiteFile::constraint}) {
            SiteFile other = site;
            other.*value = bad;
            EXPECT_TRUE(refused(usual_submission(), other));
        }
    }
    SiteFile other = site;
    other.constraint = "h100&infiniband $(id)";
    EXPECT_NE(batch_script(usual_submission(), other)
                  .find("#SBATCH --constraint='h100&infiniband $(id)'\n"),
              std::string::npos);
}

TEST(SummaryScript, TellsAndEndsWithWhatIsSaidOfTheBatch) {
    Submission submission = usual_submission();
    submission.state = "out/scans.state";
    SiteFile site = parse_site_text(usual_site, "s.toml");
    site.summary_partition = "cpu";
    const std::string script = summary_script(submission, site);
    EXPECT_NE(script.find("#SBATCH --partition=cpu\n"), std::string::npos) << script;
    EXPECT_EQ(script.find("gpu"), std::string::npos) << script;
    EXPECT_TRUE(script.ends_with("\n/opt/runner status --require-done out/scans.state\n"))
        << script;
    EXPECT_EQ(summary_arguments(submission, "17").at(1), "--dependency=afterany:17");
}

TEST(SummaryScript, WritesThePageOfTheBatchFirst) {
    Submission submission = usual_submission();
    const SiteFile site = parse_site_text(usual_site, "s.toml");
    const auto has_page = [](const std::string& script) {
        return script.find("/opt/runner report 'a b.state' --page /me/r.html >/dev/null\n") !=
               std::string::npos;
    };
    submission.state = "a b.state";
    EXPECT_EQ(batch_script(submission, site).find(" report "), std::string::npos);
    submission.page = "/me/r.html";
    EXPECT_TRUE(has_page(batch_script(submission, site)));
    EXPECT_TRUE(has_page(summary_script(submission, site)));
    EXPECT_TRUE(summary_script(submission, site).ends_with("status --require-done 'a b.state'\n"));
    submission.array = Submission::Array{};
    EXPECT_FALSE(has_page(batch_script(submission, site))) << "each task would write it";
}

TEST(ShellWord, IsQuotedForEveryShell) {
    EXPECT_EQ(shell_word("in^2.h5"), "'in^2.h5'");
    EXPECT_EQ(shell_word("=x"), "'=x'");
    EXPECT_EQ(shell_word("--set=run.lanes=2"), "--set=run.lanes=2");
    EXPECT_EQ(shell_word("log-%j.txt"), "log-%j.txt");
}

TEST(ShellWord, ReadsBackAsItWas) {
    std::string command = "printf '%s|'";
    std::string wanted;
    for (const std::string text : {"plain-1.h5", "", "a b", "it's", "$HOME `id` \"x\" \\n !", "*",
                                   "a\nb", "~", "#x", "=x"}) {
        command += " " + shell_word(text);
        wanted += text + "|";
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
        ::popen(("bash -c " + shell_word(command)).c_str(), "r"), ::pclose);
    ASSERT_NE(pipe, nullptr);
    std::array<char, 256> buffer{};
    const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe.get());
    EXPECT_EQ(std::string(buffer.data(), bytes), wanted);
}

TEST(SiteFile, ExampleHasEveryKeyAndEachIsTaken) {
    // With each key's comment taken away all keys are there.
    std::string text = read(fs::path(RUNNER_SOURCE_FOLDER) / "slurm/sites/example.toml");
    text = std::regex_replace(text, std::regex("\n# ([A-Za-z_]+ = )"), "\n$1");
    ASSERT_EQ(::setenv("USER", "me", 1), 0);
    const SiteFile site = parse_site_text(text, "example.toml");
    EXPECT_EQ(site.scratch, "/scratch/me");
    EXPECT_EQ(site.node.memory, 480 * GiB);
    EXPECT_EQ(site.options.size(), 2U);
    EXPECT_EQ(site.environment.size(), 1U);
    // Those and no others: the page's rows, and what the messages list for an unknown key.
    std::set<std::string> keys;
    const std::regex key("(?:^|\n)([a-z_]+) = ");
    for (std::sregex_iterator match(text.begin(), text.end(), key), end; match != end; ++match) {
        keys.insert((*match)[1]);
    }
    std::set<std::string> rows;
    const std::string page = read(fs::path(RUNNER_SOURCE_FOLDER) / "docs/slurm.md");
    const std::regex row("\n\\| `(?:[a-z]+\\.)?([a-z_]+)` \\|");
    for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
        rows.insert((*match)[1]);
    }
    EXPECT_EQ(keys, rows);
    std::set<std::string> taken = {"environment", "launcher", "limits", "node"};
    const std::string refusal = said(
        "zzzzzzzz = 1\n[node]\nzzzzzzzz = 1\n[limits]\nzzzzzzzz = 1\n[launcher]\nzzzzzzzz = 1\n");
    const std::regex list(" takes ([a-z_, ]+)");
    for (std::sregex_iterator match(refusal.begin(), refusal.end(), list), end; match != end;
         ++match) {
        std::istringstream words((*match)[1]);
        for (std::string word; words >> word;) {
            keys.insert(word.substr(0, word.find(',')));
            taken.insert(word.substr(0, word.find(',')));
        }
    }
    EXPECT_EQ(keys, taken);
}

TEST(SiteFile, TellsEveryErrorAtItsPlace) {
    const std::string text = said("partition = \"a b\"\noptions = [\"x\", 3]\nscratch = "
                                  "\"/x/${NO_SUCH_VARIABLE}\"\n[node]\ncpus = 0\n[limits]\ntime = "
                                  "\"2min\"\n[environment]\n\"a b\" = \"\"\n");
    EXPECT_TRUE(text.starts_with("the site file is wrong (s.toml): 8 errors\n")) << text;
    for (const char* line :
         {"s.toml:1:13: partition: expected a name without blanks and quotes, got \"a b\"",
          "s.toml:2:12: options: every element is an option",
          "s.toml:2:17: options: expected an array",
          "s.toml:3:11: scratch: there is no variable \"${NO_SUCH_VARIABLE\"",
          "s.toml:4:1: node.memory is missing", "s.toml:5:8: node.cpus: must be from 1",
          "limits.stop_before: must be shorter than limits.time",
          "environment.\"a b\": no name of a variable"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
    }
}

/// A plan that needs so much of each of its ranks.
PlanPtr plan_of(std::int64_t bytes) {
    auto plan = std::make_shared<StreamPlan>();
    plan->need.staging = bytes;
    return plan;
}

TEST(Allocate, TakesTheFewestNodesThatDo) {
    const SiteFile site = parse_site_text(usual_site, "s.toml");
    const PlanFor fits_on_twelve = [](int ranks) {
        if (ranks < 12) {
            throw Error(ExitCode::usage, {"the job does not fit", "", "", ""});
        }
        return plan_of(8 * GiB);
    };
    const Allocation allocation =
        allocate(site, Backend::cuda, JobFile::Run{}, std::nullopt, fits_on_twelve);
    EXPECT_EQ(allocation.nodes, 3);
    EXPECT_EQ(allocation.ranks, 4);
    EXPECT_EQ(allocation.gpus, 4);
    EXPECT_EQ(allocation.cpus, 16);
    // A rank's 8 GiB are 80 % of its share; a GiB beside it.
    EXPECT_EQ(allocation.memory, 4 * 11 * GiB);
    EXPECT_THROW(allocate(site, Backend::cuda, JobFile::Run{}, 2, fits_on_twelve), Error);
    EXPECT_THROW(allocate(site, Backend::cuda, JobFile::Run{}, 9, fits_on_twelve), Error);

    const Allocation cpu = allocate(site, Backend::cpu, JobFile::Run{}, std::nullopt,
                                    [](int) { return plan_of(400 * GiB); });
    EXPECT_EQ(cpu.ranks, 1);
    EXPECT_EQ(cpu.gpus, 0);
    EXPECT_EQ(cpu.cpus, 64);
    EXPECT_EQ(cpu.memory, 480 * GiB);
}

TEST(Profile, ScalesWithTheWorkAndCountsOnNoSpeedUp) {
    Profile profile;
    profile.work = {1e9, 0};
    profile.ranks = 4;
    profile.start_seconds = 10;
    profile.seconds = 110;
    EXPECT_DOUBLE_EQ(expected_seconds(profile, {5e9, 0}, 4), 2 * 510 + 60);
    EXPECT_DOUBLE_EQ(expected_seconds(profile, {5e9, 0}, 8), 2 * 510 + 60);
    EXPECT_DOUBLE_EQ(expected_seconds(profile, {1e9, 0}, 2), 2 * 210 + 60);
    profile.work.updates = 1e12;
    EXPECT_DOUBLE_EQ(expected_seconds(profile, {1e9, 3e12}, 4), 2 * 310 + 60);
    profile.work.updates = 0;
    // 440 rank seconds a gigabyte: 4 of them on 16 ranks, and one dataset of a tenth last.
    EXPECT_DOUBLE_EQ(expected_batch_seconds(profile, {4e9, 0}, {1e8, 0}, 16), 2 * (110 + 44) + 60);
}

} // namespace
} // namespace runner::slurm
