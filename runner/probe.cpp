// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe.hpp"

#include "io/check_dataset.hpp"
#include "io/file_content.hpp"
#include "io/rows_format.hpp"
#include "runner/probe_limits.hpp"
#include "runner/probe_words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_answer = 65536;

[[noreturn]] void fail_start(const std::string& call, int number) {
    throw Error(ExitCode::launch, {"cannot start a process to look at the input", call,
                                   errno_text(number), "See 'ulimit -u' and 'ulimit -n'"});
}

/// Set for the child, so that a program that mistakes its verb for another does not start more.
constexpr const char* child_mark = "RUNNER_PROBE";

/// The environment without what a launcher tells its ranks: with it the child would take itself for
/// one of them.
std::vector<std::string> plain_environment() {
    static constexpr std::array<std::string_view, 10> launchers = {
        "OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI", "SLURM_", "HYDRA_", "I_MPI_", "FLUX_", "PALS_"};
    std::vector<std::string> kept = {std::string(child_mark) + "=1"};
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

/// How the child's files and signals are to be: nothing to read, standard output to `pipe`, no
/// words of libraries, no other file of ours, no signal blocked or caught, out of reach of the
/// terminal's keys.
class SpawnSettings {
  public:
    explicit SpawnSettings(int pipe) {
        must(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
        must(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
        must(::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0), "open");
        must(::posix_spawn_file_actions_adddup2(&actions_, pipe, 1), "dup2");
        must(::posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0), "open");
        must(::posix_spawn_file_actions_addclosefrom_np(&actions_, 3), "closefrom");
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

/// A started child and the end of a pipe that it answers through; ends it when destroyed.
class Child {
  public:
    explicit Child(std::vector<std::string> arguments) {
        std::array<int, 2> pipe{};
        if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
            fail_start("pipe", errno);
        }
        answer_ = pipe[0];
        const int failure = spawn(pipe[1], std::move(arguments));
        (void)::close(pipe[1]);
        if (failure != 0) {
            (void)::close(answer_);
            fail_start("posix_spawn", failure);
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (id_ > 0) {
            (void)::kill(id_, SIGKILL);
            (void)::waitpid(id_, nullptr, 0);
        }
        (void)::close(answer_);
    }

    /// What it wrote until it ended, or the first part of it; nothing when it took longer.
    std::optional<std::string> answer_before(Clock::time_point deadline) {
        std::string answer;
        std::array<char, 4096> part{};
        for (;;) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
            struct pollfd ready {
                answer_, POLLIN, 0
            };
            const int found =
                ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
            if (found == 0 || (found < 0 && errno != EINTR)) {
                return std::nullopt;
            }
            const ssize_t got = found < 0 ? -1 : ::read(answer_, part.data(), part.size());
            if (got == 0 || answer.size() > longest_answer) {
                return answer;
            }
            if (got > 0) {
                answer.append(part.data(), static_cast<std::size_t>(got));
            }
        }
    }

    /// How it ended, as waitpid tells; nothing when it has not.
    std::optional<int> end_before(Clock::time_point deadline) {
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

  private:
    int spawn(int pipe, std::vector<std::string> arguments) {
        const SpawnSettings settings(pipe);
        std::vector<std::string> environment = plain_environment();
        return ::posix_spawn(&id_, "/proc/self/exe", settings.actions(), settings.attributes(),
                             pointers_to(arguments).data(), pointers_to(environment).data());
    }

    pid_t id_ = 0;
    int answer_ = -1;
};

[[noreturn]] void throw_damaged(const std::string& where, const std::string& why) {
    throw Error(ExitCode::input, {"the input file is damaged or malicious", where, why,
                                  "Get it again from where it was made; do not open it elsewhere"});
}

/// What a child that told nothing came to.
[[noreturn]] void explain_end(const std::string& where, int status, const ProbeLimits& limits) {
    const std::string it = "looking at it, in a process of its own, ";
    if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::launch)) {
        throw Error(ExitCode::launch, {"the process that looks at the input could not answer",
                                       where, "its pipe broke", "Start again"});
    }
    if (!WIFSIGNALED(status)) {
        throw_damaged(where, it + "ended with exit code " + std::to_string(WEXITSTATUS(status)));
    }
    const int signal = WTERMSIG(status);
    const char* short_name = ::sigabbrev_np(signal);
    const std::string name =
        short_name == nullptr ? std::to_string(signal) : std::string("SIG") + short_name;
    switch (signal) {
    case SIGXCPU:
        throw_damaged(where, it + "took more than " + std::to_string(limits.cpu_seconds) +
                                 " s of computing (" + name + ")");
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGTRAP:
    case SIGSYS: throw_damaged(where, it + "crashed with " + name);
    default:
        throw Error(ExitCode::launch, {"the process that looks at the input was ended", where,
                                       name + " came from outside it", "Start again"});
    }
}

/// The error that a probe told of, if it did. @throws Error where it told nothing.
std::optional<Error> run_probe(std::vector<std::string> arguments, const std::string& file,
                               const std::string& where) {
    if (std::getenv(child_mark) != nullptr) {
        throw Error(ExitCode::defect, {"a probe would start another", where,
                                       std::string(child_mark) + " is set", "Unset it"});
    }
    const ProbeLimits limits = probe_limits(file);
    const auto deadline = Clock::now() + std::chrono::seconds(limits.seconds);
    Child child(std::move(arguments));
    const std::optional<std::string> answer = child.answer_before(deadline);
    const std::optional<int> status = answer ? child.end_before(deadline) : std::nullopt;
    if (!status) {
        throw_damaged(where, "looking at it, in a process of its own, took longer than " +
                                 std::to_string(limits.seconds) + " s");
    }
    std::optional<Error> told = error_of(*answer);
    if (told) {
        return told;
    }
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0 || !is_good(*answer)) {
        explain_end(where, *status, limits);
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

void throw_if(const std::optional<Error>& told) {
    if (told) {
        throw Error(*told);
    }
}

} // namespace

void probe_input(const std::string& file, const std::string& dataset, const InputRules& rules) {
    if (has_own_parser(file)) {
        check_dataset(file, dataset, rules);
        return;
    }
    throw_if(probe("read", file, dataset, rules));
}

void probe_content(const std::string& file, const std::string& dataset, const InputRules& rules) {
    if (has_own_parser(file)) {
        (void)file_content(file);
        return;
    }
    throw_if(probe("show", file, dataset, rules));
}

void probe_survival(const std::string& file) { (void)probe("show", file, "", {}); }

void probe_inputs(const JobFile& job) {
    std::error_code ignored;
    if (!job.input.generate || std::filesystem::exists(job.input.file, ignored)) {
        probe_input(job.input.file, job.input.dataset, job.input.rules);
    }
    for (const InputDataset& input : job.parameters->inputs()) {
        probe_input(input.file, input.dataset, job.input.rules);
    }
}

} // namespace runner
