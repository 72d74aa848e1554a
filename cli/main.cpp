// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "base/limits.hpp"
#include "cli/command_line.hpp"
#include "cli/dispatch.hpp"
#include "kernels/queue/devices.hpp"
#include "kernels/vectors/vector_target.hpp"
#include "runner/batch/batch.hpp"
#include "runner/launch.hpp"
#include "runner/messages.hpp"
#include "runner/probe/probe_child.hpp"
#include "runner/probe/served_rows.hpp"
#include "runner/report/version.hpp"
#include "runner/run_job.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <unistd.h>

namespace runner::cli {
namespace {

ExitCode run_program(const std::vector<std::string>& arguments,
                     std::chrono::steady_clock::time_point start) {
    try {
        use_vectors_of_environment();
        keep_hwloc_off_drivers();
        if (is_probe(arguments)) {
            return answer_probes();
        }
        if (is_row_server(arguments)) {
            return serve_rows(arguments);
        }
        const Command command = parse_command_line(arguments, version_text);
        if (const auto* run = std::get_if<RunCommand>(&command)) {
            start_ranks(run->ranks, arguments);
            return run_on_all_ranks(*run, start);
        }
        if (const auto* batch = std::get_if<batch::Command>(&command)) {
            start_ranks(batch->run.ranks, arguments);
            return batch::run_on_all_ranks(*batch, start);
        }
        // A verb is for one process: the others a launcher may have started leave it to the first.
        return is_first_process() ? dispatch(command) : ExitCode::ok;
    } catch (const Error& error) {
        if (is_first_process()) {
            tell_error(error.what());
        }
        return error.code();
    } catch (const std::exception& error) {
        const std::optional<Error> known = system_failure(error);
        tell_error(known ? known->what() : "a defect of the program: " + std::string(error.what()));
        return known ? known->code() : ExitCode::defect;
    }
}

} // namespace
} // namespace runner::cli

int main(int argc, char** argv) {
    const auto start = std::chrono::steady_clock::now();
    (void)std::signal(SIGXFSZ, SIG_IGN); // a limit on the size of files fails the write instead
    const int code = static_cast<int>(runner::cli::run_program({argv + 1, argv + argc}, start));
    if (runner::device_lost()) {
        // Past the CUDA runtime's clean-up, which would go to the dead device.
        (void)std::fflush(nullptr);
        ::_exit(code);
    }
    return code;
}
