// SPDX-License-Identifier: BSD-3-Clause
// No allocation in here: malloc is one of the functions that fail.
#include "tests/fault/rules.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fault {
namespace {

constexpr std::array<std::string_view, 20> functions = {
    "read",   "pread", "write",  "pwrite",     "fsync",  "fdatasync", "close",
    "open",   "link",  "unlink", "fallocate",  "mkdir",  "ftruncate", "mmap",
    "create", "lock",  "spawn",  "rename_new", "rename", "malloc"};

constexpr std::array<std::pair<std::string_view, int>, 20> errors = {{
    {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"EDQUOT", EDQUOT},         {"EEXIST", EEXIST},
    {"EFBIG", EFBIG},   {"EINTR", EINTR},   {"EINVAL", EINVAL},         {"EIO", EIO},
    {"EMFILE", EMFILE}, {"ENOENT", ENOENT}, {"ENOLCK", ENOLCK},         {"ENOMEM", ENOMEM},
    {"ENOSPC", ENOSPC}, {"ENOSYS", ENOSYS}, {"EOPNOTSUPP", EOPNOTSUPP}, {"EPERM", EPERM},
    {"EROFS", EROFS},   {"ESTALE", ESTALE}, {"EXDEV", EXDEV},           {"ENOTSUPP", 524},
}};

constexpr std::array<std::pair<std::string_view, Action>, 6> actions = {{
    {"short", Action::half},
    {"eof", Action::eof},
    {"torn", Action::torn},
    {"kill", Action::kill},
    {"stop", Action::stop},
    {"log", Action::log},
}};

void put(int descriptor, std::string_view text) {
    (void)::syscall(SYS_write, descriptor, text.data(), text.size());
}

[[noreturn]] void refuse(std::string_view rule) {
    put(2, "fault shim: cannot understand the rule ");
    put(2, rule);
    put(2, "\n");
    ::_exit(99);
}

/// Cuts off `text` what is before the next `mark`, all of it where there is none.
std::string_view cut(std::string_view& text, char mark) {
    const std::size_t end = std::min(text.find(mark), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

long number(std::string_view text, std::string_view rule) {
    long value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size() || value < 1) {
        refuse(rule);
    }
    return value;
}

void read_action(std::string_view text, std::string_view whole, Rule& rule) {
    rule.action_text = text;
    for (const auto& [name, value] : errors) {
        if (text == name) {
            rule.action = Action::fail;
            rule.number = value;
        }
    }
    for (const auto& [name, action] : actions) {
        if (text == name) {
            rule.action = action;
        }
    }
    if (text.starts_with("delay=")) {
        rule.action = Action::delay;
        rule.number = number(text.substr(6), whole);
    }
    if (text.starts_with("hold=") && text.size() > 5) {
        rule.action = Action::hold;
        rule.hold_file = text.substr(5);
    }
    if (rule.action == Action::none) {
        refuse(whole);
    }
}

void read_when(std::string_view text, std::string_view whole, Rule& rule) {
    if (text == "*") {
        rule.every = 1;
    } else if (text.starts_with('/')) {
        rule.first = rule.every = number(text.substr(1), whole);
    } else {
        rule.every = text.ends_with('+') ? 1 : 0;
        rule.first = number(text.substr(0, text.size() - (text.ends_with('+') ? 1 : 0)), whole);
    }
}

void read_rule(std::string_view whole, Rule& rule) {
    std::string_view rest = whole;
    rule.functions = cut(rest, ':');
    for (std::string_view names = rule.functions; !names.empty();) {
        const std::string_view name = cut(names, ',');
        if (std::find(functions.begin(), functions.end(), name) == functions.end()) {
            refuse(whole);
        }
    }
    read_action(cut(rest, '@'), whole, rule);
    read_when(cut(rest, ':'), whole, rule);
    const std::size_t size = std::min(rest.find(">="), rest.size());
    rule.path = rest.substr(0, size);
    if (size < rest.size()) {
        rule.least_bytes = static_cast<std::size_t>(number(rest.substr(size + 2), whole));
    }
}

bool is_for_this_rank() {
    const char* wanted = std::getenv("FAULT_RANK");
    if (wanted == nullptr) {
        return true;
    }
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
        if (const char* rank = std::getenv(name)) {
            return std::string_view(rank) == wanted;
        }
    }
    return false;
}

struct Rules {
    std::array<Rule, 8> list;

    Rules() {
        const char* text = std::getenv("FAULT");
        if (text == nullptr || !is_for_this_rank()) {
            return;
        }
        std::size_t count = 0;
        for (std::string_view rest = text; !rest.empty();) {
            const std::string_view rule = cut(rest, ';');
            if (count == list.size()) {
                refuse(rule);
            }
            read_rule(rule, list[count++]);
        }
    }
};

bool names(std::string_view list, std::string_view function) {
    while (!list.empty()) {
        if (cut(list, ',') == function) {
            return true;
        }
    }
    return false;
}

void log_call(const Rule& rule, std::string_view function, long call, std::string_view path) {
    const char* file = std::getenv("FAULT_LOG");
    if (file == nullptr) {
        return;
    }
    std::array<char, 4400> line{};
    const int length = std::snprintf(
        line.data(), line.size(), "%.*s %.*s %ld %.*s\n", static_cast<int>(function.size()),
        function.data(), static_cast<int>(rule.action_text.size()), rule.action_text.data(), call,
        static_cast<int>(path.size()), path.data());
    const auto to = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
    put(to, {line.data(), static_cast<std::size_t>(length)});
    (void)::syscall(SYS_close, to);
}

/// Creates the file that says so, then waits until it is removed.
void hold(std::string_view file) {
    std::array<char, 4400> path{};
    (void)std::snprintf(path.data(), path.size(), "%.*s.%d", static_cast<int>(file.size()),
                        file.data(), static_cast<int>(::getpid()));
    const auto made = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, path.data(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (made < 0) {
        refuse(file);
    }
    (void)::syscall(SYS_close, made);
    constexpr timespec pause = {0, 1000000};
    while (::syscall(SYS_faccessat, AT_FDCWD, path.data(), F_OK) == 0) {
        (void)::nanosleep(&pause, nullptr);
    }
}

/// What is done to the process rather than to the call.
void act_on_process(const Rule& rule) {
    if (rule.action == Action::kill) {
        kill_process();
    } else if (rule.action == Action::stop) {
        (void)::kill(::getpid(), SIGSTOP);
    } else if (rule.action == Action::delay) {
        const timespec time = {rule.number / 1000000, rule.number % 1000000 * 1000};
        (void)::nanosleep(&time, nullptr);
    } else if (rule.action == Action::hold) {
        hold(rule.hold_file);
    }
}

} // namespace

std::array<Rule, 8>& rules() {
    static Rules read;
    return read.list;
}

void kill_process() {
    (void)::kill(::getpid(), SIGKILL);
    for (;;) {
        (void)::pause();
    }
}

std::string_view path_of(int descriptor, std::array<char, 4096>& buffer) {
    std::array<char, 64> link{};
    (void)std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
    const long length =
        ::syscall(SYS_readlinkat, AT_FDCWD, link.data(), buffer.data(), buffer.size() - 1);
    buffer[static_cast<std::size_t>(std::max(length, 0L))] = '\0';
    return {buffer.data(), static_cast<std::size_t>(std::max(length, 0L))};
}

const Rule* pick(std::string_view function, const char* path, int descriptor, std::size_t bytes) {
    const Rule* picked = nullptr;
    for (Rule& rule : rules()) {
        if (rule.action == Action::none || !names(rule.functions, function) ||
            bytes < rule.least_bytes) {
            continue;
        }
        const int before = errno;
        std::array<char, 4096> buffer{};
        const std::string_view where =
            path != nullptr ? std::string_view(path)
                            : (descriptor >= 0 ? path_of(descriptor, buffer) : std::string_view());
        errno = before;
        if (where.find(rule.path) == std::string_view::npos) {
            continue;
        }
        const long call = ++rule.calls;
        if (rule.every > 0 ? call < rule.first || (call - rule.first) % rule.every != 0
                           : call != rule.first) {
            continue;
        }
        log_call(rule, function, call, where);
        act_on_process(rule);
        errno = before;
        picked = &rule;
    }
    return picked;
}

} // namespace fault
