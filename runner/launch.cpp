// SPDX-License-Identifier: BSD-3-Clause
#include "runner/launch.hpp"

#include "base/format.hpp"
#include "base/limits.hpp"
#include "kernels/queue/devices.hpp"
#include "kernels/queue/shown_device.hpp"
#include "runner/life_watch.hpp"
#include "runner/messages.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/ranks/host_memory.hpp"
#include "runner/ranks/own_mpi.hpp"
#include "runner/watch/stop.hpp"
#include "runner/watch/ticker.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace runner {
namespace {

/// Set for the ranks that start_ranks() starts, to its process.
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

/// Whether a program of this name is in PATH.
bool is_in_path(std::string_view program) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) {
            return true;
        }
    }
    return false;
}

/// Has Open MPI start the ranks on this host without programs that a container may lack: in an
/// allocation of Slurm it would use srun, and it starts nothing where the ssh of its configuration
/// is not there, which no rank of this host needs. What the user has set for Open MPI counts.
void start_without_others(std::vector<std::string>& command) {
    const auto set = [&command](const std::string& parameter, const char* value) {
        if (std::getenv(("OMPI_MCA_" + parameter).c_str()) == nullptr) {
            command.insert(command.end(), {"--mca", parameter, value});
        }
    };
    const bool in_slurm =
        std::getenv("SLURM_JOB_ID") != nullptr || std::getenv("SLURM_JOBID") != nullptr;
    if (in_slurm && !is_in_path("srun")) {
        set("plm", "^slurm");
        set("ras", "^slurm");
    }
    if (!is_in_path("ssh") && !is_in_path("rsh")) {
        set("plm_rsh_agent", "/bin/false");
    }
}

/// This program's file.
std::filesystem::path own_file() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// `mpirun`: its path, or its name for one in PATH.
std::vector<std::string> mpirun_command(const std::string& mpirun, int ranks,
                                        const std::vector<std::string>& arguments) {
    // Ranks choose cores near their GPUs themselves, and may be more than there are cores. Open MPI
    // 4 reports about one of a thousand finished runs as failed
    // (https://github.com/open-mpi/ompi/issues/7833), so its check for that is off.
    std::vector<std::string> command = {mpirun,
                                        "-n",
                                        std::to_string(ranks),
                                        "--bind-to",
                                        "none",
                                        "--oversubscribe",
                                        "--mca",
                                        "orte_allowed_exit_without_sync",
                                        "1"};
    start_without_others(command);
    if (::geteuid() == 0) {
        command.emplace_back("--allow-run-as-root"); // no more rights than this process has
    }
    command.push_back(own_file().string());
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

/// The number of this rank among those of its host, where all of them have the same list of devices
/// in their environment: none, or what `runner -n` passes on. A launcher's own script may have
/// given each another list.
std::optional<int> rank_among_alike() {
    const char* const rank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    const bool alike =
        std::getenv("CUDA_VISIBLE_DEVICES") == nullptr || std::getenv(own_launch) != nullptr;
    return rank != nullptr && alike ? std::optional(std::atoi(rank)) : std::nullopt;
}

/// The process that start_ranks() became, of a rank that it started; 0 of any other.
pid_t own_launcher() {
    const char* const text = std::getenv(own_launch);
    return text == nullptr || !Ranks::started_by_launcher() ? 0 : std::atoi(text);
}

/// Ends a rank of `runner -n` once its mpirun is gone, whatever MPI makes of that. By a descriptor
/// of the process and not by PR_SET_PDEATHSIG, which tells of the thread that started this process:
/// Open MPI may start it from one that ends.
class LauncherWatch {
  public:
    explicit LauncherWatch(pid_t launcher)
        : launcher_(launcher), process_(static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0))) {
        if (process_ < 0 && errno == ESRCH) {
            end();
        }
        if (process_ >= 0) { // else the kernel has no such call
            ticker_.emplace([this] { look(); });
        }
    }
    LauncherWatch(const LauncherWatch&) = delete;
    LauncherWatch& operator=(const LauncherWatch&) = delete;
    ~LauncherWatch() {
        ticker_.reset();
        if (process_ >= 0) {
            ::close(process_);
        }
    }

  private:
    void look() const {
        struct pollfd ended {
            process_, POLLIN, 0
        };
        if (::poll(&ended, 1, 0) > 0) {
            end();
        }
    }

    [[noreturn]] void end() const {
        if (is_first_process()) {
            tell_error(format_error({"the launcher of the ranks has ended",
                                     fmt::format("mpirun, process {}", launcher_), "",
                                     "The same command resumes the job"}));
        }
        ::_exit(static_cast<int>(ExitCode::launch)); // MPI would talk to the launcher
    }

    pid_t launcher_;
    int process_;
    std::optional<Ticker> ticker_;
};

} // namespace

void keep_hwloc_off_drivers() {
    // Its plug-ins would start it in mpirun, and in every rank again. hwloc ignores names of
    // plug-ins that are not installed.
    (void)::setenv("HWLOC_COMPONENTS", "-gl,-opencl,-cuda,-nvml", 0);
    if (const std::optional<std::filesystem::path> own = own_mpi(own_file())) {
        // The host's plug-ins are of its hwloc, which may be of another version than ours.
        (void)::setenv("HWLOC_PLUGINS_PATH", (*own / "lib" / "hwloc").c_str(), 1);
    }
}

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
    const std::optional<std::filesystem::path> own = own_mpi(own_file());
    if (own) {
        use_own_mpi(*own);
    }
    std::vector<std::string> command =
        mpirun_command(own ? *own / "bin/mpirun" : "mpirun", count, arguments);
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (std::string& word : command) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    (void)::setenv(own_launch, std::to_string(::getpid()).c_str(), 1); // which mpirun keeps
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

ExitCode on_all_ranks(BackendChoice backend, const std::function<ExitCode(const Ranks&)>& part,
                      const std::function<std::string(const std::string&)>& words) {
    take_signals_over();
    if (Ranks::started_by_launcher()) {
        if (const std::optional<std::filesystem::path> own = own_mpi(own_file())) {
            use_own_mpi(*own); // for a rank of the host's mpirun, which knows nothing of it
        }
    }
    Ranks::choose_transport();
    std::jthread device; // beside MPI's start: each takes a good part of a second
    if (Ranks::started_by_launcher() && backend != BackendChoice::cpu) {
        if (const std::optional<int> rank = rank_among_alike()) {
            show_one_device_only(*rank);
            device = std::jthread([nth = *rank] { start_device(nth); });
        } else {
            device = std::jthread(start_driver);
        }
    }
    std::optional<LauncherWatch> launcher;
    if (const pid_t process = own_launcher(); process > 0) {
        launcher.emplace(process);
    }
    Ranks ranks;
    std::optional<LifeWatch> watch; // to the end: others may wait for this rank until then
    ExitCode code = ExitCode::ok;
    try {
        watch.emplace(ranks);
        code = part(ranks);
    } catch (const AgreedError& error) {
        if (ranks.first()) {
            tell_error(words ? words(error.what()) : error.what());
        }
        ranks.finalize();
        return error.code();
    } catch (const std::exception& error) {
        // Only this rank knows: tell it here and end the others, who may wait for this one.
        const std::optional<Error> known = system_failure(error);
        const std::string text =
            known ? known->what() : "a defect of the program: " + std::string(error.what());
        tell_error(words && known ? words(text) : text);
        ranks.abort(known ? known->code() : ExitCode::defect);
    }
    ranks.finalize();
    return code;
}

} // namespace runner
