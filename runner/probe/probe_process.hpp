// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/probe/probe_limits.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace runner {

/// This program, started again to probe inputs: it knows nothing of ranks and devices, has none
/// of our files and signals, and answers through a pipe. Ended, with what it started, when this is
/// destroyed.
class ProbeProcess {
  public:
    using Clock = std::chrono::steady_clock;

    /// The most bytes of one answer that are read.
    static constexpr std::size_t longest_answer = std::size_t{1} << 29;

    /// Set in its environment, so that a program that mistakes its verb for another does not start
    /// more.
    static constexpr const char* mark = "RUNNER_PROBE";

    enum class Input { none, pipe };

    /// `shared`: a descriptor that it is to have too, as its descriptor 3. @throws Error (launch).
    ProbeProcess(std::vector<std::string> arguments, Input input,
                 std::optional<int> shared = std::nullopt);
    ProbeProcess(const ProbeProcess&) = delete;
    ProbeProcess& operator=(const ProbeProcess&) = delete;
    ~ProbeProcess();

    /// Writes to its standard input. False where it reads no more.
    bool send(const std::string& text);

    /// The next `bytes` of its answers; fewer when it ended; nothing when it took longer.
    /// @throws Error (stopped) once `signals` have asked the program to end.
    std::optional<std::string> read_before(Clock::time_point deadline, std::size_t bytes,
                                           int signals = 1);

    /// How it ended, as waitpid tells; nothing when it has not.
    std::optional<int> end_before(Clock::time_point deadline);

  private:
    pid_t id_ = 0;
    int input_ = -1;
    int answer_ = -1;
};

/// That there can be no such process: the call that failed, its errno and the limits.
Error cannot_start(const std::string& call, int number);

/// An input that must not be opened. @throws Error (input).
[[noreturn]] void throw_damaged(const std::string& where, const std::string& why);

/// What a process that told nothing came to, by its status as waitpid tells it.
/// @throws Error (input, launch).
[[noreturn]] void explain_probe_end(const std::string& where, int status,
                                    const ProbeLimits& limits);

/// That it took longer than the limits allow. @throws Error (input).
[[noreturn]] void throw_too_slow(const std::string& where, const ProbeLimits& limits);

} // namespace runner
