// SPDX-License-Identifier: BSD-3-Clause
#include "base/limits.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <new>
#include <string_view>
#include <system_error>

#include <sys/resource.h>

namespace runner {
namespace {

/// Nothing where there is no such limit.
std::optional<std::int64_t> limit_of(decltype(RLIMIT_AS) resource) {
    struct rlimit limit {};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(limit.rlim_cur);
}

/// The least pids.max of this process' cgroup and those around it.
std::optional<std::int64_t> most_of_cgroup() {
    std::ifstream file("/proc/self/cgroup");
    std::optional<std::int64_t> least;
    for (std::string line; std::getline(file, line);) {
        std::string root = "/sys/fs/cgroup";
        if (line.find(":pids:") != std::string::npos) {
            root += "/pids"; // version 1
        } else if (!line.starts_with("0::")) {
            continue;
        }
        std::string path = line.substr(line.find(':', line.find(':') + 1) + 1);
        for (;; path.resize(path.rfind('/'))) {
            path = path == "/" ? "" : path;
            std::int64_t most = 0; // "max" is none
            if (std::ifstream(fmt::format("{}{}/pids.max", root, path)) >> most) {
                least = std::min(least.value_or(most), most);
            }
            if (path.find('/') == std::string::npos) {
                break;
            }
        }
    }
    return least;
}

Error no_thread(const std::string& why) {
    return {ExitCode::launch,
            {"cannot start a thread", "", why + "; " + thread_limits_text(),
             "Raise the limit, or set run.io_threads lower and give the job fewer cores"}};
}

} // namespace

std::string thread_limits_text() {
    std::string text;
    if (const auto most = limit_of(RLIMIT_NPROC)) {
        text += fmt::format("the user may have {} processes and threads (RLIMIT_NPROC, ulimit -u)",
                            *most);
    }
    if (const auto most = most_of_cgroup()) {
        text += fmt::format("{}the cgroup may have {} (pids.max)", text.empty() ? "" : ", ", *most);
    }
    if (const std::string memory = memory_limit_text(); !memory.empty()) {
        text += (text.empty() ? "" : ", ") + memory;
    }
    return text.empty() ? "the system has no more (see 'ulimit -u' and pids.max)" : text;
}

std::optional<std::int64_t> most_address_space() { return limit_of(RLIMIT_AS); }

std::string memory_limit_text() {
    const auto most = most_address_space();
    return most ? "the process may have " + size_text(*most) +
                      " of address space (RLIMIT_AS, ulimit -v)"
                : "";
}

std::optional<Error> system_failure(const std::exception& failure) {
    if (const auto* known = dynamic_cast<const Error*>(&failure)) {
        return *known;
    }
    if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) {
        return out_of_host_memory();
    }
    const auto* system = dynamic_cast<const std::system_error*>(&failure);
    // TBB tells of a thread that it cannot start by a text alone.
    const bool of_tbb =
        std::string_view(failure.what()).find("pthread_create") != std::string::npos;
    if (of_tbb ||
        (system != nullptr && (system->code() == std::errc::not_enough_memory ||
                               system->code() == std::errc::resource_unavailable_try_again))) {
        return no_thread(errno_text(EAGAIN));
    }
    return std::nullopt;
}

} // namespace runner
