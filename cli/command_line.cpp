// SPDX-License-Identifier: BSD-3-Clause
#include "cli/command_line.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/kind_verbs.hpp"
#include "cli/verbs.hpp"
#include "io/formats/rows_format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace runner::cli {
namespace {

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size() + 2), ' ');
    return text;
}

std::string general_help() {
    std::string text =
        "Runs image and volume jobs on the GPUs and cores of one or many hosts.\n\n"
        "Usage:\n"
        "  runner JOB.toml [options]       on one rank\n"
        "  runner -n 4 JOB.toml            on four of this host; or: mpirun -n 4 runner JOB.toml\n"
        "  runner KIND IN OUT [options]    without a job file; see runner KIND --help\n"
        "  runner VERB ...                 see runner VERB --help\n\n"
        "Verbs:\n";
    for (const Verb& verb : verbs()) {
        text += "  " + padded(std::string(verb.name) + " " + std::string(verb.arguments), 26) +
                std::string(verb.summary) + "\n";
    }
    text += "\nKinds of jobs:\n";
    for (const Verb& kind : kind_verbs()) {
        text += "  " + padded(std::string(kind.name), 26) + std::string(kind.summary) + "\n";
    }
    text += "\nExit codes:\n";
    for (const ExitMeaning& exit : exit_meanings()) {
        text += "  " + padded(std::to_string(static_cast<int>(exit.code)), 4) +
                std::string(exit.meaning) + "\n";
    }
    return text + "\nExample:\n  runner plan jobs/conv_demo.toml && runner jobs/conv_demo.toml\n";
}

std::optional<Verb> find_verb(const std::string& name) {
    const std::vector<Verb> all = all_verbs();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Verb& verb) { return verb.name == name; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

/// The arguments with `-n N` behind the verb or kind, as in `runner -n 4 median IN OUT`.
std::vector<std::string> with_verb_first(std::span<const std::string> arguments) {
    std::vector<std::string> moved(arguments.begin(), arguments.end());
    const std::string& first = moved.front();
    const bool is_apart = first == "-n" || first == "--ranks";
    const bool is_joined = first.starts_with("-n") || first.starts_with("--ranks=");
    const std::ptrdiff_t words = is_apart ? 2 : (is_joined ? 1 : 0);
    if (words > 0 && words < std::ssize(moved) && find_verb(moved.at(words))) {
        std::rotate(moved.begin(), moved.begin() + words, moved.begin() + words + 1);
    }
    return moved;
}

/// Whether a first argument that is no verb is meant as a job file.
bool means_job_file(const std::string& argument) {
    std::error_code failure;
    return argument.starts_with('-') || argument.find('/') != std::string::npos ||
           argument.find('.') != std::string::npos || std::filesystem::exists(argument, failure);
}

[[noreturn]] void refuse_verb(const std::string& given) {
    std::vector<std::string> names;
    std::string all;
    for (const Verb& verb : all_verbs()) {
        names.emplace_back(verb.name);
        all += (all.empty() ? "" : ", ") + names.back();
    }
    const std::optional<std::string> near = nearest_name(given, names);
    throw Error(ExitCode::usage,
                {"unknown verb", quoted_text(given),
                 near ? "did you mean " + *near + "?" : "the verbs and kinds are " + all,
                 near ? "" : "A job file is named with its ending, as in runner job.toml"});
}

/// The name of a folder that is an output or an input, which shells complete by a slash.
std::string without_slash(const std::string& argument) {
    const std::string name = argument.substr(0, argument.find_last_not_of('/') + 1);
    return is_folder_output(name) ? name : argument;
}

} // namespace

Command parse_command_line(std::span<const std::string> given, std::string (*version)()) {
    if (given.empty()) {
        throw Error(ExitCode::usage,
                    {"no job file is named", "", "write runner JOB.toml, or runner KIND IN OUT",
                     "runner --help says what else there is"});
    }
    std::vector<std::string> moved = with_verb_first(given);
    std::transform(moved.begin(), moved.end(), moved.begin(), without_slash);
    const std::span<const std::string> arguments = moved;
    const std::string& first = arguments.front();
    if (first == "help" && arguments.size() > 1) {
        const std::vector<std::string> help = {arguments[1], "--help"};
        return parse_command_line(help, version);
    }
    if (first == "--help" || first == "-h" || first == "help") {
        return PrintCommand{general_help()};
    }
    if (first == "--version" || first == "version") {
        return PrintCommand{version()};
    }
    if (const std::optional<Verb> verb = find_verb(first)) {
        return verb->parse(*verb, arguments.subspan(1));
    }
    if (!means_job_file(first)) {
        refuse_verb(first);
    }
    const Verb& run = verbs().front();
    return run.parse(run, arguments);
}

} // namespace runner::cli
