// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/text_file.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/toml/edited_text.hpp"
#include "runner/trial/trial.hpp"
#include "runner/trial/trial_text.hpp"
#include "runner/trial/tried_job.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace runner::trial {

std::string pick_combination(const TryCommand& command) {
    const std::vector<std::vector<std::string>> combinations =
        combinations_of(load_job_file(command.job, settings_of(command)));
    const std::int64_t number = command.pick.value_or(0);
    if (combinations.front().empty() || number < 1 || number > std::ssize(combinations)) {
        throw Error(ExitCode::usage,
                    {"cannot pick a result", fmt::format("--pick {}", number),
                     combinations.front().empty()
                         ? std::string("the job has no sweep")
                         : fmt::format("the sweep has {} results", combinations.size()),
                     "Name the number of a picture of the page, with the sweep that made it"});
    }
    constexpr std::int64_t most_bytes = 64 * MiB;
    std::string text = read_text_file(command.job, most_bytes);
    const std::vector<std::string>& chosen = combinations[static_cast<std::size_t>(number) - 1];
    for (const std::string& setting : chosen) {
        std::optional<std::string> edited = edited_text(text, setting);
        if (!edited) {
            throw Error(ExitCode::usage, {"cannot write the choice into the job file", command.job,
                                          "its table for " + setting.substr(0, setting.find('=')) +
                                              " is not in the form of a header and lines",
                                          "Write it there by hand: " + setting});
        }
        text = *std::move(edited);
    }
    // A link to the job file stays a link.
    write_text_file(std::filesystem::canonical(command.job).string(), text);
    return command.job + ": " + sweep_heading(chosen) + "\n";
}

} // namespace runner::trial
