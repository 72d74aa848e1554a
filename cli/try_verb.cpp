// SPDX-License-Identifier: BSD-3-Clause
#include "cli/try_verb.hpp"

#include "cli/verb_parser.hpp"

namespace runner {

Command parse_try(const Verb& verb, std::span<const std::string> arguments) {
    VerbParser parser(verb, "runner try jobs/denoise_xray_512.toml\n"
                            "  runner try jobs/denoise_xray_512.toml --sweep "
                            "denoise.strength=0.4,0.6,0.8");
    TryCommand command;
    std::string out;
    std::string seconds;
    parser.add_job(command.job, command.settings);
    parser.add_backend();
    parser.add_repeatable("--sweep", command.sweep, "KEY=A,B,C",
                          "run with each of these TOML values; repeatable for a second key; same "
                          "as [sweep] in the job file");
    parser.add_option("--part", command.part, "PART",
                      "central (the default), first, or ranges of the last axes: 10:20,200:800,:");
    parser.add_option(
        "--seconds", seconds, "DURATION",
        "about how long a run on the part takes (default 3s); longer predicts better");
    parser.add_option(
        "--out", out, "FOLDER",
        "folder of the page and its pictures (default: output.file with the ending .try)");
    parser.add_flag("--keep", command.keep,
                    "keep the outputs of the runs on the part in that folder");
    if (auto help = parser.parse(arguments)) {
        return *help;
    }
    command.backend = parser.backend();
    if (!out.empty()) {
        command.out = out;
    }
    command.seconds = parser.duration("--seconds", seconds).value_or(command.seconds);
    for (const std::string& sweep : command.sweep) {
        const std::size_t equals = sweep.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == sweep.size()) {
            parser.refuse("--sweep takes a key and its values, not \"" + sweep + "\"",
                          "Write --sweep denoise.strength=0.4,0.6");
        }
    }
    return command;
}

} // namespace runner
