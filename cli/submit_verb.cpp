// SPDX-License-Identifier: BSD-3-Clause
#include "cli/submit_verb.hpp"

#include "cli/verb_parser.hpp"

namespace runner {
namespace {

/// Nothing where the option is not given.
std::optional<int> number(const VerbParser& parser, const std::string& option,
                          const std::string& given) {
    constexpr std::int64_t most = 1'000'000;
    return given.empty() ? std::nullopt
                         : std::optional(static_cast<int>(parser.integer(option, given, 1, most)));
}

} // namespace

Command parse_submit(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb,
                      "runner submit jobs/conv_32k.toml --site slurm/sites/example.toml --dry-run\n"
                      "  runner submit jobs/scans.toml --site slurm/sites/example.toml --array 8 "
                      "--throttle 4");
    SubmitCommand command;
    std::string nodes;
    std::string array;
    std::string throttle;
    std::string time;
    std::string profile;
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
    if (command.throttle && !command.array) {
        parser.refuse("--throttle is for the tasks of an array", "Add --array");
    }
    if (command.profile && command.seconds) {
        parser.refuse("--profile and --time are both given", "Give one of them");
    }
    return command;
}

} // namespace runner
