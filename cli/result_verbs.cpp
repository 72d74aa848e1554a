// SPDX-License-Identifier: BSD-3-Clause
#include "cli/result_verbs.hpp"

#include "cli/verb_parser.hpp"

#include <cstdint>

namespace runner {
namespace {

/// OUT.h5 and --input, which verify and repair have in common.
void add_output(VerbParser& parser, std::string& file, std::string& input) {
    parser.add_argument("OUT.h5", file, "a finished output of a job");
    parser.add_option("--input", input, "FILE", "the input of the job, if it was renamed");
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

} // namespace runner
