// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe.hpp"

#include "io/check_dataset.hpp"
#include "io/file_content.hpp"
#include "io/rows_format.hpp"
#include "runner/nearest_file.hpp"
#include "runner/probe_limits.hpp"
#include "runner/probe_process.hpp"
#include "runner/probe_words.hpp"
#include "runner/prober.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/wait.h>

namespace runner {
namespace {

/// The error that a probe told of, if it did. @throws Error where it told nothing.
std::optional<Error> run_probe(std::vector<std::string> arguments, const std::string& file,
                               const std::string& where) {
    if (std::getenv(ProbeProcess::mark) != nullptr) {
        throw Error(ExitCode::defect, {"a probe would start another", where,
                                       std::string(ProbeProcess::mark) + " is set", "Unset it"});
    }
    const ProbeLimits limits = probe_limits(file);
    const auto deadline = ProbeProcess::Clock::now() + std::chrono::seconds(limits.seconds);
    ProbeProcess child(std::move(arguments), ProbeProcess::Input::none);
    const std::optional<std::string> answer = child.answer_before(deadline);
    const std::optional<int> status = answer ? child.end_before(deadline) : std::nullopt;
    if (!status) {
        throw_too_slow(where, limits);
    }
    std::optional<Error> told = error_of(*answer);
    if (told) {
        return told;
    }
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0 || !is_good(*answer)) {
        explain_probe_end(where, *status, limits);
    }
    return std::nullopt;
}

std::optional<Error> probe(const char* way, const std::string& file, const std::string& dataset,
                           const InputRules& rules) {
    return run_probe({"runner", std::string(probe_verb), way, file, dataset, to_text(rules)}, file,
                     dataset.empty() ? file : file + ":" + dataset);
}

/// Nothing in it can bring the process down.
bool has_own_parser(const std::string& file) {
    const RowsFormat* format = rows_format_of(file);
    return format != nullptr && format->parser == RowsFormat::Parser::own;
}

/// Tells what there is instead where nothing has the name.
void check_there(const std::string& file) {
    std::error_code failure;
    if (std::filesystem::status(file, failure).type() != std::filesystem::file_type::not_found ||
        failure != std::errc::no_such_file_or_directory || file.find("://") != std::string::npos) {
        return; // of URLs there is more to say
    }
    const std::string near = std::filesystem::is_symlink(file, failure)
                                 ? "It is a link to what is not there"
                                 : nearest_files_text(file);
    throw Error(ExitCode::input, {"cannot open the file", file, errno_text(ENOENT),
                                  near.empty() ? "Check the spelling" : near});
}

void throw_if(const std::optional<Error>& told) {
    if (told) {
        throw Error(*told);
    }
}

/// The file's and the kind's own datasets, each by `look(file, dataset)`.
template <class Look> void for_each_input(const JobFile& job, const Look& look) {
    std::error_code ignored;
    if (!job.input.generate || std::filesystem::exists(job.input.file, ignored)) {
        look(job.input.file, job.input.dataset);
    }
    for (const InputDataset& input : job.parameters->inputs()) {
        look(input.file, input.dataset);
    }
}

} // namespace

void probe_input(const std::string& file, const std::string& dataset, const InputRules& rules) {
    check_there(file);
    if (has_own_parser(file)) {
        check_dataset(file, dataset, rules);
        return;
    }
    throw_if(probe("read", file, dataset, rules));
}

void probe_content(const std::string& file, const std::string& dataset, const InputRules& rules) {
    check_there(file);
    if (has_own_parser(file)) {
        (void)file_content(file);
        return;
    }
    throw_if(probe("show", file, dataset, rules));
}

void probe_survival(const std::string& file) { (void)probe("show", file, "", {}); }

void probe_inputs(const JobFile& job) {
    for_each_input(job, [&](const std::string& file, const std::string& dataset) {
        probe_input(file, dataset, job.input.rules);
    });
}

void probe_inputs(const JobFile& job, Prober& prober) {
    for_each_input(job, [&](const std::string& file, const std::string& dataset) {
        check_there(file);
        if (has_own_parser(file)) {
            check_dataset(file, dataset, job.input.rules);
        } else {
            throw_if(prober.look("read", file, dataset, job.input.rules));
        }
    });
}

void probe_survival(const std::string& file, Prober& prober) {
    (void)prober.look("show", file, "", {});
}

} // namespace runner
