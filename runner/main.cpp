// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "runner/command_line.hpp"
#include "runner/dispatch.hpp"
#include "runner/run.hpp"
#include "runner/version.hpp"

#include <chrono>
#include <exception>
#include <string>
#include <variant>
#include <vector>

int main(int argc, char** argv) {
    const auto start = std::chrono::steady_clock::now();
    try {
        const std::vector<std::string> arguments(argv + 1, argv + argc);
        const runner::Command command =
            runner::parse_command_line(arguments, runner::version_text());
        if (const auto* run = std::get_if<runner::RunCommand>(&command)) {
            return static_cast<int>(runner::run_on_all_ranks(*run, start));
        }
        // A verb is for one process: the others a launcher may have started leave it to the first.
        return static_cast<int>(runner::is_first_process() ? runner::dispatch(command)
                                                           : runner::ExitCode::ok);
    } catch (const std::exception& exception) {
        const runner::Error error = runner::as_error(exception);
        if (runner::is_first_process()) {
            runner::tell_error(error.what());
        }
        return static_cast<int>(error.code());
    }
}
