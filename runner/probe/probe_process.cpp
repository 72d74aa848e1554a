// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/probe_process.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/limits.hpp"
#include "io/files/descriptor.hpp"
#include "runner/watch/stop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runner {
namespace {

[[noreturn]] void fail_start(const std::string& call, int number) {
    throw Error(cannot_start(call, number));
}

/// The environment without what a launcher tells its ranks: with it the child would take itself for
/// one of them.
std::vector<std::string> plain_environment(ProbeProcess::Input input) {
    static constexpr std::array<std::string_view, 10> launchers = {
        "OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI", "SLURM_", "HYDRA_", "I_MPI_", "FLUX_", "PALS_"};
    std::vector<std::string> kept = {std::string(ProbeProcess::mark) + "=1"};
    if (input == ProbeProcess::Input::pipe) {
        kept.emplace_back("LD_BIND_NOW=1"); // once, not in each process forked from it
    }
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (std::none_of(launchers.begin(), launchers.end(),
                         [&](std::string_view prefix) { return text.starts_with(prefix); })) {
            kept.emplace_back(text);
        }
    }
    return kept;
}

/// Texts as the system's calls take them, which leave them alone.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

void must(int result, const char* call) {
    if (result != 0) {
        fail_start(call, result);
    }
}

/// How the child's files and signals are to be: nothing to read, or `input`; standard output to
/// `pipe`, no words of libraries, no other file of ours but `shared`, no signal blocked or caught,
/// out of reach of the terminal's keys.
class SpawnSettings {
  public:
    SpawnSettings(std::optional<int> input, int pipe, std::optional<int> shared) {
        must(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
        must(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
        if (input) {
            must(::posix_spawn_file_actions_adddup2(&actions_, *input, 0), "dup2");
        } else {
            must(::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0),
                 "open");
        }
        must(::posix_spawn_file_actions_adddup2(&actions_, pipe, 1), "dup2");
        must(::posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0), "open");
        if (shared) {
            must(::posix_spawn_file_actions_adddup2(&actions_, *shared, 3), "dup2");
        }
        must(::posix_spawn_file_actions_addclosefrom_np(&actions_, shared ? 4 : 3), "closefrom");
        sigset_t signals;
        ::sigemptyset(&signals);
        must(::posix_spawnattr_setsigmask(&attributes_, &signals), "sigmask");
        ::sigfillset(&signals);
        must(::posix_spawnattr_setsigdefault(&attributes_, &signals), "sigdefault");
        must(::posix_spawnattr_setpgroup(&attributes_, 0), "pgroup");
        must(::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK |
                                                          POSIX_SPAWN_SETSIGDEF |
                                                          POSIX_SPAWN_SETPGROUP),
             "flags");
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
    ~SpawnSettings() {
        (void)::posix_spawnattr_destroy(&attributes_);
        (void)::posix_spawn_file_actions_destroy(&actions_);
    }

    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

/// Both ends of a pipe, closed unless taken; a socket where to write what nobody reads any more
/// must be an error and no signal, since not every verb ignores SIGPIPE.
struct Pipe {
    enum class Kind { plain, socket };

    explicit Pipe(Kind kind = Kind::plain) {
        const int failed = kind == Kind::plain
                               ? ::pipe2(ends.data(), O_CLOEXEC)
                               : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
        if (failed != 0) {
            fail_start("pipe", errno);
        }
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        for (const int end : ends) {
            if (end >= 0) {
                (void)::close(end);
            }
        }
    }

    int take(std::size_t which) { return std::exchange(ends.at(which), -1); }

    std::array<int, 2> ends{-1, -1};
};

void end_if_asked(int signals) {
    if (const std::string signal = signal_received(signals); !signal.empty()) {
        throw Error(ExitCode::stopped, {"stopped while a file was read by a process of its own",
                                        "signal " + signal, "", "The same command resumes"});
    }
}

} // namespace

Error cannot_start(const std::string& call, int number) {
    const std::string limits =
        number == EAGAIN || number == ENOMEM ? "; " + thread_limits_text() : "";
    return {ExitCode::launch,
            {"cannot start a process to probe the input", call, errno_text(number) + limits,
             "See 'ulimit -u' and 'ulimit -n'"}};
}

ProbeProcess::ProbeProcess(std::vector<std::string> arguments, Input input,
                           std::optional<int> shared) {
    std::optional<Pipe> requests;
    if (input == Input::pipe) {
        requests.emplace(Pipe::Kind::socket);
    }
    Pipe answers;
    const SpawnSettings settings(requests ? std::optional(requests->ends[0]) : std::nullopt,
                                 answers.ends[1], shared);
    std::vector<std::string> environment = plain_environment(input);
    const int failure =
        ::posix_spawn(&id_, "/proc/self/exe", settings.actions(), settings.attributes(),
                      pointers_to(arguments).data(), pointers_to(environment).data());
    if (failure != 0) {
        fail_start("posix_spawn", failure);
    }
    answer_ = answers.take(0);
    input_ = requests ? requests->take(1) : -1;
}

ProbeProcess::~ProbeProcess() {
    if (input_ >= 0) {
        (void)::close(input_);
    }
    if (id_ > 0) {
        (void)::kill(-id_, SIGKILL); // with what it started: they are a group
        (void)::kill(id_, SIGKILL);
        (void)uninterrupted([&] { return ::waitpid(id_, nullptr, 0); });
    }
    (void)::close(answer_);
}

bool ProbeProcess::send(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = uninterrupted(
            [&] { return ::send(input_, text.data() + done, text.size() - done, MSG_NOSIGNAL); });
        if (written < 0) {
            return false;
        }
        done += static_cast<std::size_t>(written);
    }
    return true;
}

std::optional<std::string> ProbeProcess::read_before(Clock::time_point deadline, std::size_t bytes,
                                                     int signals) {
    std::string answer;
    std::array<char, 65536> part{};
    while (answer.size() < bytes) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        struct pollfd ready {
            answer_, POLLIN, 0
        };
        // In short steps: a signal may come just before the wait, which it would not end then.
        constexpr std::int64_t step = 100;
        const int found =
            ::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, step)));
        end_if_asked(signals);
        if ((found == 0 && left.count() <= step) || (found < 0 && errno != EINTR)) {
            return std::nullopt;
        }
        if (found == 0) {
            continue;
        }
        const ssize_t got =
            found < 0 ? -1
                      : ::read(answer_, part.data(), std::min(part.size(), bytes - answer.size()));
        if (got == 0) {
            return answer;
        }
        if (got > 0) {
            answer.append(part.data(), static_cast<std::size_t>(got));
        }
    }
    return answer;
}

std::optional<int> ProbeProcess::end_before(Clock::time_point deadline) {
    for (;;) {
        int status = 0;
        const pid_t ended = ::waitpid(id_, &status, WNOHANG);
        if (ended == id_) {
            id_ = 0;
            return status;
        }
        if ((ended < 0 && errno != EINTR) || Clock::now() > deadline) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

void throw_damaged(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"the file is damaged or malicious", where, why,
                                  "Get it again from where it was made; do not open it elsewhere"});
}

void explain_probe_end(const std::string& where, int status, const ProbeLimits& limits) {
    const std::string it = "probing it, in a process of its own, ";
    if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::launch)) {
        throw Error(ExitCode::launch, {"the process that probes the input could not answer", where,
                                       "its pipe broke", "Restart the job"});
    }
    if (!WIFSIGNALED(status)) {
        throw_damaged(where, fmt::format("{}ended with exit code {}", it, WEXITSTATUS(status)));
    }
    const int signal = WTERMSIG(status);
    const char* short_name = ::sigabbrev_np(signal);
    const std::string name =
        short_name == nullptr ? std::to_string(signal) : std::string("SIG") + short_name;
    switch (signal) {
    case SIGXCPU:
        throw_damaged(where, fmt::format("{}took more than {} s of computing ({})", it,
                                         limits.cpu_seconds, name));
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGTRAP:
    case SIGSYS:
        if (const auto most = most_address_space(); most && *most < limits.memory) {
            throw Error(ExitCode::launch,
                        {"cannot probe the input", where,
                         it + "crashed with " + name + ", and " + memory_limit_text(),
                         "Ask for more memory; if it crashes then too, the file is damaged"});
        }
        throw_damaged(where, it + "crashed with " + name);
    default:
        throw Error(ExitCode::launch, {"the process that probes the input was ended", where,
                                       name + " came from outside it", "Restart the job"});
    }
}

void throw_too_slow(const std::string& where, const ProbeLimits& limits) {
    throw_damaged(where, fmt::format("probing it, in a process of its own, took longer than {} s",
                                     limits.seconds));
}

} // namespace runner
