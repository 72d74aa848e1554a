// SPDX-License-Identifier: BSD-3-Clause
#include "cli/verbs.hpp"

#include "cli/data_verbs.hpp"
#include "cli/job_verbs.hpp"
#include "cli/layout_options.hpp"
#include "cli/manual.hpp"
#include "cli/run_options.hpp"
#include "cli/verb_parser.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/patterns/patterns.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/job_file/job_sample.hpp"

#include <algorithm>
#include <array>

namespace runner::cli {
namespace {

Command parse_run(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner -n 4 jobs/conv_32k.toml --set run.lanes=4 "
                            "--report out/conv_32k.json");
    RunCommand command;
    parser.add_job(command.job, command.settings);
    const RunOptions options(parser);
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    options.apply_to(command);
    return command;
}

Command parse_batch(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "mpirun -n 4 runner batch jobs/scans.toml --max-time 8h");
    batch::Command command;
    parser.add_job(command.run.job, command.run.settings);
    const RanksOption ranks(parser);
    parser.add_backend();
    parser.add_flag("--dry-run", command.dry_run, "only inspect all datasets and print the plan");
    parser.add_flag("--quiet", command.run.quiet, "no progress, only warnings and errors");
    const TimeOption time(parser);
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.run.ranks = ranks.value();
    command.run.backend = parser.backend();
    command.run.max_seconds = time.seconds();
    return command;
}

Command parse_status(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner status out --watch");
    StatusCommand command;
    parser.add_argument("DIR", command.folder, "the batch's state folder, or its parent folder");
    parser.add_flag("--json", command.json, "print the state of every dataset as JSON");
    parser.add_flag("--watch", command.watch, "repeat the output until the batch is done");
    parser.add_flag("--all", command.all, "print one line per dataset");
    parser.add_flag(
        "--require-done", command.require_done,
        "exit with 0 only if all is done; else with the code of a failure, or 75 without one");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    return command;
}

Command parse_plan(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner plan jobs/conv_32k.toml -n 8 --device-memory 80GiB");
    PlanCommand command;
    std::string ranks = "1";
    std::string device_memory;
    std::string host_memory;
    parser.add_job(command.job, command.settings);
    parser.add_backend();
    parser.add_option("-n,--ranks", ranks, "RANKS", "number of ranks (default 1)");
    parser.add_option("--device-memory", device_memory, "SIZE", "memory free on each rank's GPU");
    parser.add_option("--host-memory", host_memory, "SIZE",
                      "memory free for each rank on its host");
    parser.add_flag("--json", command.json, "print the plan as JSON");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    constexpr std::int64_t most_ranks = 1'000'000;
    command.backend = parser.backend();
    command.ranks = static_cast<int>(parser.integer("-n", ranks, 1, most_ranks));
    command.device_memory = parser.size("--device-memory", device_memory);
    command.host_memory = parser.size("--host-memory", host_memory);
    return command;
}

Command parse_devices(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner devices --json");
    DevicesCommand command;
    parser.add_flag("--json", command.json, "print them as JSON");
    parser.add_flag("--measure", command.measure,
                    "measure the rates of copies, multiply-adds, links and peers, and keep them");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    return command;
}

double parse_counts(const VerbParser& parser, Pattern pattern, const std::string& given) {
    if (!takes_counts(pattern)) {
        parser.refuse("--counts applies only to the patterns xray, tomo-scan and phase-scan");
    }
    const double counts = parser.amount("--counts", given);
    if (counts == 0 || counts > most_counts) {
        parser.refuse("--counts is above 0 and at most 1e9, not " + given);
    }
    return counts;
}

Command parse_generate(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner generate noise data/image.h5 --shape 4096,4096 --dtype uint16 "
                            "--dataset /image");
    GenerateCommand command;
    std::string shape;
    std::string type;
    std::string seed = "0";
    parser.add_argument("PATTERN", command.request.pattern, pattern_names());
    parser.add_argument("OUT.h5", command.file, "the file to write");
    parser.add_option("--shape", shape, "Z,Y,X",
                      "extents, slowest axis first; default: those of the sample");
    parser.add_option("--dtype", type, "TYPE", element_type_names() + "; default for sand: uint8");
    parser.add_option("--seed", seed, "NUMBER", "seed of noise, xray and scans (default 0)");
    std::string counts;
    parser.add_option("--counts", counts, "NUMBER", "photons of xray and scans (default 1000)");
    parser.add_option("--dataset", command.dataset, "NAME",
                      "name of the dataset (default /data; for sand /frames)");
    LayoutOptions layout(parser);
    parser.add_flag("--overwrite", command.overwrite, "replace an existing file");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    parser.index_of("PATTERN", command.request.pattern, generate_patterns());
    const Pattern pattern = *pattern_named(command.request.pattern);
    const bool is_sand = is_sand_pattern(pattern);
    const std::optional<std::vector<std::int64_t>> usual = usual_shape(pattern);
    if (shape.empty() && !usual) {
        parser.refuse("--shape is required");
    }
    command.request.shape = shape.empty() ? *usual : parser.extents("--shape", shape);
    if (type.empty() && !is_sand) {
        parser.refuse("--dtype is required");
    }
    command.request.type = type.empty() ? ElementType::uint8 : parser.element("--dtype", type);
    if (!parser.is_given("--dataset")) {
        command.dataset = is_sand ? "/frames" : "/data";
    }
    command.request.seed = static_cast<std::uint64_t>(parser.integer("--seed", seed, 0));
    if (!counts.empty()) {
        command.request.counts = parse_counts(parser, pattern, counts);
    }
    if (command.dataset.empty() || command.file.empty()) {
        parser.refuse("the names of the file and the dataset must not be empty");
    }
    command.layout = layout.layout(command.file);
    return command;
}

Command parse_init(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner init convolve > my_job.toml");
    std::string kind;
    parser.add_argument("KIND", kind, "the kind of job");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    return PrintCommand{job_sample(kinds()[parser.index_of("KIND", kind, kind_names())])};
}

Command parse_keys(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner keys denoise");
    std::string kind;
    bool markdown = false;
    bool json = false;
    std::vector<std::string> names = kind_names();
    names.emplace_back("all");
    parser.add_argument("KIND", kind, "the kind of job, or all");
    parser.add_flag("--markdown", markdown, "print the tables of the documentation");
    parser.add_flag("--json", json, "print the keys as JSON");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    const std::size_t index = parser.index_of("KIND", kind, names);
    const std::span<const Kind> chosen =
        index < kinds().size() ? kinds().subspan(index, 1) : kinds();
    if (json) {
        return PrintCommand{kinds_json(chosen)};
    }
    std::string text;
    for (const Kind& each : chosen) {
        text += (text.empty() ? "" : "\n") + (markdown ? key_table(each) : key_paragraphs(each));
    }
    return PrintCommand{text};
}

Command parse_explain(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner explain jobs/conv_32k.toml");
    ExplainCommand command;
    parser.add_job(command.job, command.settings);
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    return command;
}

Command parse_report(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner report out/one.json out/two.json --page out/runs.html\n  "
                            "runner report out/one.json --page out/one.html\n  "
                            "runner report out/scans.state --page out/scans.html");
    ReportCommand command;
    std::string page;
    parser.add_arguments("A.json", command.files,
                         "reports written by --report FILE.json; or the folder of a batch's state");
    parser.add_option(
        "--page", page, "FILE.html",
        "also write a page for a browser: the table, the full report of one run, or a "
        "batch's datasets and times");
    parser.add_flag("--json", command.json, "print the table as JSON");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    if (!page.empty()) {
        if (!page.ends_with(".html")) {
            parser.refuse("--page writes a file that ends in .html, not " + quoted_text(page));
        }
        command.page = page;
    }
    return command;
}

Command parse_completion(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "source <(runner completion bash)");
    std::string shell;
    parser.add_argument("SHELL", shell, "bash or zsh");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    const bool zsh = parser.index_of("SHELL", shell, {"bash", "zsh"}) == 1;
    return PrintCommand{zsh ? zsh_completion() : bash_completion()};
}

Command parse_manual(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner manual | man -l -");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    return PrintCommand{manual_page()};
}

} // namespace

std::span<const Verb> verbs() {
    static constexpr std::array all = {
        Verb{"run", "JOB.toml", "runs the job; `runner JOB.toml` is the same", parse_run},
        Verb{"plan", "JOB.toml", "checks the job and prints the work and the memory of a run",
             parse_plan},
        Verb{"try", "JOB.toml", "runs the job on a part of its input, and predicts the whole",
             parse_try},
        Verb{"batch", "JOB.toml", "runs the job on all datasets that [batch] names", parse_batch},
        Verb{"status", "DIR", "prints the progress of a batch", parse_status},
        Verb{"submit", "JOB.toml", "submits the job or batch to Slurm", parse_submit},
        Verb{"explain", "JOB.toml", "prints the job with every default filled in", parse_explain},
        Verb{"init", "KIND", "prints a commented job file to start from", parse_init},
        Verb{"keys", "KIND", "prints the keys of a kind, their types, defaults and ranges",
             parse_keys},
        Verb{"generate", "PATTERN OUT.h5", "generates a synthetic input of any size",
             parse_generate},
        Verb{"inspect", "FILE[:/dataset]", "prints the contents of a file", parse_inspect},
        Verb{"compare", "A:/x B:/y", "compares two datasets", parse_compare},
        Verb{"render", "FILE:/x... OUT.png", "renders images or slices side by side", parse_render},
        Verb{"convert", "IN OUT", "converts a file to another format, chunks or type",
             parse_convert},
        Verb{"verify", "OUT.h5", "checks a finished output against its checksums and its input",
             parse_verify},
        Verb{"repair", "OUT.h5", "recomputes the damaged rows of a finished output", parse_repair},
        Verb{"certify", "OUT.h5",
             "prints the facts of a finished output, or checks a file against them", parse_certify},
        Verb{"report", "A.json... | DIR",
             "compares runs by their reports; renders a report or a batch as a page", parse_report},
        Verb{"devices", "", "lists the GPUs of this host and the rank that would use each",
             parse_devices},
        Verb{"completion", "SHELL", "prints a script that completes command lines",
             parse_completion},
        Verb{"manual", "", "prints the manual page", parse_manual},
    };
    return all;
}

VerbUsage usage_of(const Verb& verb) {
    const std::vector<std::string> help = {"--help"};
    return std::get<PrintCommand>(verb.parse(verb, help)).usage;
}

std::span<const ExitMeaning> exit_meanings() {
    static constexpr std::array all = {
        ExitMeaning{ExitCode::ok, "done"},
        ExitMeaning{ExitCode::defect, "a defect of the program: please report it"},
        ExitMeaning{ExitCode::usage,
                    "the job file or the command line is wrong, or the plan cannot fit"},
        ExitMeaning{ExitCode::input, "input data"},
        ExitMeaning{ExitCode::output, "output or storage"},
        ExitMeaning{ExitCode::gpu, "GPU"},
        ExitMeaning{ExitCode::launch, "launch, MPI, host memory, or a stall"},
        ExitMeaning{ExitCode::differs, "a comparison or a verification differs"},
        ExitMeaning{ExitCode::stopped, "stopped: the same command resumes the job"},
    };
    return all;
}

} // namespace runner::cli
