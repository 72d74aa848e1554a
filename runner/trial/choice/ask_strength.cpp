// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/choice/ask_strength.hpp"

#include "base/error.hpp"
#include "runner/messages.hpp"
#include "runner/watch/stop.hpp"

#include <array>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace runner::trial {
namespace {

/// A line of standard input without its end; nothing at the end of the input or after a signal.
std::optional<std::string> read_line() {
    constexpr int milliseconds = 100; // between two looks for a signal
    std::string line;
    while (signal_received(1).empty()) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        const int ready = ::poll(&input, 1, milliseconds);
        if (ready == 0 || (ready < 0 && errno == EINTR)) {
            continue;
        }
        std::array<char, 1> one{};
        if (ready < 0 || ::read(STDIN_FILENO, one.data(), one.size()) != 1) {
            return std::nullopt;
        }
        if (one.front() == '\n') {
            return line;
        }
        line += one.front();
    }
    return std::nullopt;
}

} // namespace

void require_person() {
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
        throw Error(ExitCode::usage, {"cannot ask which result is too strong", "--halve",
                                      "standard input and error are not a terminal",
                                      "Add --until residual-is-noise, which decides by a number"});
    }
}

std::optional<Strength> ask_strength(const std::string& picture) {
    for (;;) {
        say(picture + ": too weak, too strong, right, or quit? [w/s/r/q] ");
        const std::optional<std::string> line = read_line();
        if (!signal_received(1).empty()) {
            say("\nstopped: nothing is kept of the trial\n");
        }
        if (!line || *line == "q") {
            return std::nullopt;
        }
        if (*line == "w") {
            return Strength::too_weak;
        }
        if (*line == "s") {
            return Strength::too_strong;
        }
        if (*line == "r") {
            return Strength::right;
        }
    }
}

} // namespace runner::trial
