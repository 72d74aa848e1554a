// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run_command.hpp"

#include "jobs/toml_text.hpp"
#include "runner/job_file/argument_words.hpp"
#include "runner/job_file/job_file.hpp"
#include "runner/messages.hpp"

namespace runner {

std::string in_words_of(const RunCommand& command, const std::string& message) {
    return command.text ? in_words_of_arguments(message, command.job) : message;
}

std::string warn(const RunCommand& command, const std::string& warning) {
    std::string told = in_words_of(command, warning);
    tell_warning(told);
    return told;
}

std::vector<std::string> settings_of(const RunCommand& command) {
    std::vector<std::string> settings = command.settings;
    if (command.backend) {
        settings.push_back("run.backend=" + toml_text(name_of(*command.backend)));
    }
    if (command.resume) {
        settings.push_back("run.resume=" + toml_text(name_of(*command.resume)));
    }
    return settings;
}

} // namespace runner
