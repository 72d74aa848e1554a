// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <exception>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace runner {

/// Calls `body`, which gives a text, in a child process and gives its text here; or how the child
/// ended, if not well. After ten minutes it is killed. For what spoils a process for later tests.
template <class Body> std::string in_child(const Body& body) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
        return "no pipe";
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(600);
        std::string text;
        try {
            text = body();
        } catch (const std::exception& error) {
            text = std::string("the child threw: ") + error.what();
        }
        const auto written = ::write(ends[1], text.data(), text.size());
        ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 99);
    }
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) {
        text += "the child ended with status " + std::to_string(status);
    }
    return text;
}

} // namespace runner
