// SPDX-License-Identifier: BSD-3-Clause
#include "cli/job_verbs.hpp"

#include "cli/verb_parser.hpp"
#include "jobs/toml_text.hpp"

#include <cstdint>
#include <limits>
#include <sstream>

namespace runner::cli {
namespace {

/// OUT.h5 and --input, which verify and repair have in common.
void add_output(VerbParser& parser, std::string& file, std::string& input) {
    parser.add_argument("OUT.h5", file, "a finished output of a job");
    parser.add_option("--input", input, "FILE", "the input of the job, if it was renamed");
}

/// Nothing where the option is not given.
std::optional<int> number(const VerbParser& parser, const std::string& option,
                          const std::string& given) {
    constexpr std::int64_t most = 1'000'000;
    return given.empty() ? std::nullopt
                         : std::optional(static_cast<int>(parser.integer(option, given, 1, most)));
}

} // namespace

Command parse_verify(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner verify out/conv_32k.h5 --sample 100");
    VerifyCommand command;
    std::string sample;
    std::string recompute;
    std::string input;
    add_output(parser, command.file, input);
    parser.add_option("--sample", sample, "N", "compare only N checksums (default: all)");
    parser.add_option("--recompute", recompute, "M",
                      "compute the rows of M places again from the input, 0 for none (default 8, "
                      "where the input is still there)");
    parser.add_flag("--json", command.json, "print the result as JSON");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    if (!sample.empty()) {
        command.sample = parser.integer("--sample", sample, 1);
    }
    if (!recompute.empty()) {
        constexpr std::int64_t most = 1'000'000'000;
        command.recompute = parser.integer("--recompute", recompute, 0, most);
    }
    if (!input.empty()) {
        command.input = input;
    }
    return command;
}

Command parse_repair(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner repair out/conv_32k.h5");
    RepairCommand command;
    std::string input;
    add_output(parser, command.file, input);
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    if (!input.empty()) {
        command.input = input;
    }
    return command;
}

Command parse_certify(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner certify out/conv_32k.h5 > conv_32k.json\n  "
                            "runner certify --check conv_32k.json copy/conv_32k.h5");
    CertifyCommand command;
    std::string what;
    std::string certificate;
    parser.add_argument("OUT.h5", what,
                        "a finished output of a job; with --check any file, or FILE:/dataset");
    parser.add_option("--check", certificate, "FILE", "check the file against this certificate");
    parser.add_trust();
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.rules = parser.rules();
    if (parser.is_given("--check")) {
        command.what = parser.dataset("OUT.h5", what);
        command.certificate = certificate;
    } else {
        command.what.file = what;
    }
    return command;
}

Command parse_submit(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb,
                      "runner submit jobs/conv_32k.toml --site slurm/sites/example.toml --dry-run\n"
                      "  runner submit jobs/scans.toml --site slurm/sites/example.toml --array 8 "
                      "--throttle 4");
    slurm::SubmitCommand command;
    std::string nodes;
    std::string array;
    std::string throttle;
    std::string time;
    std::string profile;
    std::string report;
    parser.add_job(command.job, command.settings);
    parser.add_backend();
    parser.add_option("--site", command.site, "FILE.toml", "the cluster (docs/slurm.md)",
                      VerbParser::Presence::required);
    parser.add_option("--nodes", nodes, "N", "number of nodes (default: the fewest that suffice)");
    parser.add_option("--array", array, "N", "submit an array of N tasks that share a batch");
    parser.add_option("--throttle", throttle, "M", "run at most M tasks of the array at once");
    parser.add_option("--time", time, "DURATION",
                      "Slurm's time limit: 90min, 2h, 1:30:00 (default: by --profile, or the "
                      "site's)");
    parser.add_option("--profile", profile, "FILE",
                      "a report of such a job, or a batch's state folder, to estimate the time "
                      "from");
    parser.add_option("--report", report, "FILE",
                      "write a report: FILE.json, or a page, FILE.html; of a batch a page");
    parser.add_flag("--dry-run", command.dry_run,
                    "print the scripts and command lines without submitting");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.backend = parser.backend();
    command.nodes = number(parser, "--nodes", nodes);
    command.array = number(parser, "--array", array);
    command.throttle = number(parser, "--throttle", throttle);
    command.seconds = parser.duration("--time", time);
    if (!profile.empty()) {
        command.profile = profile;
    }
    if (!report.empty()) {
        if (!report.ends_with(".json") && !report.ends_with(".html")) {
            parser.refuse("--report writes a file that ends in .json or .html, not " +
                          quoted_text(report));
        }
        command.report = report;
    }
    if (command.throttle && !command.array) {
        parser.refuse("--throttle is for the tasks of an array", "Add --array");
    }
    if (command.profile && command.seconds) {
        parser.refuse("--profile and --time are both given", "Give one of them");
    }
    return command;
}

Command parse_try(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner try jobs/denoise_xray_512.toml\n"
                            "  runner try jobs/denoise_xray_512.toml --sweep "
                            "denoise.strength=0.4,0.6,0.8");
    trial::TryCommand command;
    std::string out;
    std::string seconds;
    std::string slices;
    std::string against;
    std::string pick;
    std::string halve;
    std::string at;
    parser.add_job(command.job, command.settings);
    parser.add_backend();
    parser.add_repeatable("--sweep", command.sweep, "KEY=A,B,C",
                          "run with each of these TOML values; repeatable for a second key; same "
                          "as [sweep] in the job file");
    parser.add_option("--halve", halve, "KEY=LOW..HIGH",
                      "look for the strongest value that is not too strong, by halving; asks which "
                      "is, or --until residual-is-noise decides");
    parser.add_option("--part", command.part, "PART",
                      "central (the default), first, or ranges of the last axes: 10:20,200:800,:");
    parser.add_option(
        "--seconds", seconds, "DURATION",
        "about how long a run on the part takes (default 3s); longer predicts better");
    parser.add_option(
        "--out", out, "FOLDER",
        "folder of the page and its pictures (default: output.file with the ending .try)");
    parser.add_option("--slices", slices, "N",
                      "images of the part that the page shows, evenly spaced (default 1)");
    parser.add_option("--at", at, "A,B,…",
                      "show the images of these numbers instead, counted along z from 0");
    parser.add_option("--against", against, "FILE[:/x]",
                      "what the whole job should make: adds PSNR and SSIM of the pictures");
    parser.add_flag("--keep", command.keep,
                    "keep the outputs of the runs on the part in that folder");
    parser.add_option("--pick", pick, "N",
                      "write the values of the sweep's N-th picture into JOB.toml; runs nothing");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.backend = parser.backend();
    if (!out.empty()) {
        command.out = out;
    }
    command.seconds = parser.duration("--seconds", seconds).value_or(command.seconds);
    command.slices = number(parser, "--slices", slices).value_or(1);
    command.pick = number(parser, "--pick", pick);
    std::istringstream numbers(at);
    for (std::string one; std::getline(numbers, one, ',');) {
        command.at.push_back(
            parser.integer("--at", one, 0, std::numeric_limits<std::int64_t>::max()));
    }
    if (!at.empty() && !slices.empty()) {
        parser.refuse("--at and --slices are both given", "Give one of them");
    }
    if (!against.empty()) {
        const DatasetName name = parser.dataset("--against", against);
        command.against_file = name.file;
        command.against_dataset = name.dataset;
    }
    if (!halve.empty()) {
        if (!command.sweep.empty() || command.pick || command.keep) {
            parser.refuse("--halve does not go with --sweep, --pick and --keep", "Leave them out");
        }
        command.halve = halve;
        command.until_noise = std::erase(command.settings, "until=\"residual-is-noise\"") > 0;
    }
    for (const std::string& sweep : command.sweep) {
        const std::size_t equals = sweep.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == sweep.size()) {
            parser.refuse("--sweep takes a key and its values, not \"" + sweep + "\"",
                          "Write --sweep denoise.strength=0.4,0.6");
        }
    }
    return command;
}

} // namespace runner::cli
