// SPDX-License-Identifier: BSD-3-Clause
// In a build for coverage: processes that end by _exit() record what ran as well. The linker sends
// their calls here (--wrap=_exit). With RUNNER_UNCOUNTED in the environment a process records
// nothing: gcov merges the counts of all files at each end, which costs a small job as much as the
// job itself.
#include <cstdio>
#include <cstdlib>

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): gcov's and the linker's
extern "C" {
void __gcov_dump();
[[noreturn]] void __real__exit(int code);
[[noreturn]] void __wrap__exit(int code);
}

void __wrap__exit(int code) {
    if (std::getenv("RUNNER_UNCOUNTED") == nullptr) {
        __gcov_dump();
    }
    __real__exit(code);
}

namespace {

/// Ends the process before gcov writes: gcov's own function runs after all of on_exit().
void end_uncounted(int code, void*) {
    std::fflush(nullptr);
    __real__exit(code);
}

/// The constructor runs before all others (101 is the first priority that programs may use), so
/// that end_uncounted() runs after all that they register.
[[gnu::constructor(101)]] void choose_end() {
    if (std::getenv("RUNNER_UNCOUNTED") != nullptr && on_exit(end_uncounted, nullptr) != 0) {
        std::abort();
    }
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

} // namespace
