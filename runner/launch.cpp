// SPDX-License-Identifier: BSD-3-Clause
#include "runner/launch.hpp"

#include "base/format.hpp"
#include "kernels/queue/devices.hpp"
#include "runner/messages.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/watch/stop.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

namespace runner {
namespace {

/// Set for the ranks that start_ranks() starts.
constexpr const char* own_launch = "RUNNER_STARTED_RANKS";

/// Open MPI sets it to the number of its processes.
constexpr const char* mpirun_ranks = "OMPI_COMM_WORLD_SIZE";

void check_ranks(int asked) {
    const char* const started = std::getenv(mpirun_ranks);
    if (started != nullptr && asked > 0 && std::to_string(asked) != started) {
        throw Error(ExitCode::launch,
                    {"the number of ranks is given twice", "-n",
                     fmt::format("mpirun has started {}, and -n asks for {}", started, asked),
                     "Leave out mpirun, or -n"});
    }
}

std::vector<std::string> mpirun_command(int ranks, const std::vector<std::string>& arguments) {
    // Ranks choose cores near their GPUs themselves, and may be more than there are cores. Open MPI
    // 4 reports about one of a thousand finished runs as failed
    // (https://github.com/open-mpi/ompi/issues/7833), so its check for that is off.
    std::vector<std::string> command = {"mpirun",
                                        "-n",
                                        std::to_string(ranks),
                                        "--bind-to",
                                        "none",
                                        "--oversubscribe",
                                        "--mca",
                                        "orte_allowed_exit_without_sync",
                                        "1"};
    if (::geteuid() == 0) {
        command.emplace_back("--allow-run-as-root"); // no more rights than this process has
    }
    command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

} // namespace

void start_ranks(std::optional<int> ranks, const std::vector<std::string>& arguments) {
    if (!ranks) {
        return;
    }
    if (Ranks::started_by_launcher()) {
        return check_ranks(*ranks);
    }
    const int count = *ranks > 0 ? *ranks : static_cast<int>(visible_devices().size());
    if (count < 2) {
        return;
    }
    std::vector<std::string> command = mpirun_command(count, arguments);
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (std::string& word : command) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    (void)::setenv(own_launch, "1", 1);
    (void)::execvp(words.front(), words.data());
    throw Error(ExitCode::launch,
                {"cannot start the ranks", "mpirun", errno_text(errno),
                 "Install Open MPI, or load its module, so that mpirun is in PATH"});
}

std::string launcher_name() {
    if (!Ranks::started_by_launcher()) {
        return "none";
    }
    if (std::getenv(own_launch) != nullptr) {
        return "runner";
    }
    return std::getenv(mpirun_ranks) != nullptr ? "mpirun" : "srun";
}

bool is_first_process() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* rank = std::getenv(name)) {
            return std::string_view(rank) == "0";
        }
    }
    return true;
}

ExitCode on_all_ranks(BackendChoice backend, const std::function<ExitCode(const Ranks&)>& part) {
    take_signals_over();
    Ranks::choose_transport();
    std::jthread driver;
    if (Ranks::started_by_launcher() && backend != BackendChoice::cpu) {
        // Beside MPI's start: each takes a good part of a second.
        driver = std::jthread(start_driver);
    }
    Ranks ranks;
    if (driver.joinable()) {
        driver.join();
    }
    ExitCode code = ExitCode::ok;
    try {
        code = part(ranks);
    } catch (const AgreedError& error) {
        if (ranks.first()) {
            tell_error(error.what());
        }
        ranks.finalize();
        return error.code();
    } catch (const std::bad_alloc&) {
        const OutOfMemory error = out_of_host_memory();
        tell_error(error.what());
        ranks.abort(error.code());
    } catch (const std::exception& error) {
        // Only this rank knows: tell it here and end the others, who may wait for this one.
        const auto* known = dynamic_cast<const Error*>(&error);
        tell_error((known == nullptr ? "a defect of the program: " : "") +
                   std::string(error.what()));
        ranks.abort(known == nullptr ? ExitCode::defect : known->code());
    }
    ranks.finalize();
    return code;
}

} // namespace runner
