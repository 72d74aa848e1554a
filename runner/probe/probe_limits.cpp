// SPDX-License-Identifier: BSD-3-Clause
#include "runner/probe/probe_limits.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "io/files/file_mark.hpp"
#include "io/input/stack.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace runner {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_memory = false; // its shadow is larger than any limit
#else
constexpr bool limits_memory = true;
#endif

void set_limit(decltype(RLIMIT_CORE) resource, std::int64_t value) {
    struct rlimit limit {};
    if (::getrlimit(resource, &limit) == 0) {
        // The hard limit one higher: at that of time the kernel's signal is another.
        limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(value) + 1);
        limit.rlim_cur = std::min(static_cast<rlim_t>(value), limit.rlim_max);
        if (::setrlimit(resource, &limit) == 0) {
            return;
        }
    }
    throw Error(ExitCode::launch, {"cannot limit the process that probes the input", "setrlimit",
                                   errno_text(errno), "See 'ulimit -a'"});
}

} // namespace

ProbeLimits probe_limits(const std::string& file) {
    constexpr std::int64_t least_seconds = 3;
    constexpr std::int64_t most_more_seconds = 57;
    constexpr std::int64_t bytes_a_second = GiB;
    // The sizes of a stack or a folder are not summed: that takes as long as the survey of its
    // files.
    std::error_code failure;
    const std::int64_t more =
        is_stack(file) || std::filesystem::is_directory(file, failure)
            ? most_more_seconds
            : std::clamp<std::int64_t>(mark_of(file).bytes / bytes_a_second, 0, most_more_seconds);
    ProbeLimits limits;
    limits.memory = 2 * GiB;
    limits.cpu_seconds = least_seconds + more;
    limits.seconds = 10 * limits.cpu_seconds;
    limits.files = 256;
    return limits;
}

void enter_limits(const ProbeLimits& limits) {
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, limits.cpu_seconds);
    set_limit(RLIMIT_NOFILE, limits.files);
    if (limits_memory) {
        set_limit(RLIMIT_AS, limits.memory);
    }
    // The parent's own clock ends it sooner; this is for when there is no parent any more.
    ::alarm(static_cast<unsigned>(limits.seconds) + 5);
}

} // namespace runner
