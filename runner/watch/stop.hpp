// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace runner {

/// How a run is to end before its end.
enum class StopLevel {
    none,
    finish_chunks, ///< those in flight are finished and committed, no more begun
    drop_chunks,   ///< those in flight are dropped too
};

/// From now on signals that end a process (TERM, INT, USR1, USR2, XCPU) ask the run to stop: the
/// second drops what is in flight, the third ends the process at once with 128 + its number.
/// SIGPIPE and SIGXFSZ are ignored, so that a closed pipe and a limit on the size of files are
/// errors with a message.
void take_signals_over();

/// The name of the last signal that asked, as "TERM"; empty where not so many have.
std::string signal_received(int least);

/// What may ask a run to stop: a signal, a file that somebody makes, or the program itself
/// (--max-time).
class Stop {
  public:
    /// `files`: any of them asks to stop once it is there; the last is also made when anything else
    /// does, so that the other ranks see it. The more `ranks` check them, the less often each
    /// does.
    explicit Stop(std::vector<std::string> files, int ranks = 1);

    /// How long a rank of so many waits between two checks of the files: so that all check a
    /// hundred times a second, but each once in two seconds, since a signal's grace may be short.
    static std::chrono::milliseconds interval(int ranks);

    /// From any thread.
    StopLevel level() const;
    void ask(const std::string& reason);
    /// The same, and drops what is in flight.
    void ask_to_drop(const std::string& reason);

    /// Looks for the files, if it is time again, and makes the last if need be. A few times a
    /// second, from one thread.
    void look();

    /// What reason() says where another rank was asked.
    static constexpr const char* other_rank = "another rank";

    /// "signal TERM", "the file out/STOP", what ask() was given; empty where nothing asked.
    std::string reason() const;

  private:
    using Clock = std::chrono::steady_clock;

    std::vector<std::string> files_;
    Clock::duration interval_;
    Clock::time_point next_look_;
    std::atomic<bool> asked_{false};
    std::atomic<bool> drops_{false};
    bool told_ = false;
    mutable std::mutex mutex_;
    std::string reason_;
};

} // namespace runner
