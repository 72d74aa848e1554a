// SPDX-License-Identifier: BSD-3-Clause
// In a build for coverage: processes that end by _exit() record what ran as well. The linker sends
// their calls here (--wrap=_exit).
extern "C" {
void __gcov_dump();                       // NOLINT(bugprone-reserved-identifier): gcov's
[[noreturn]] void __real__exit(int code); // NOLINT(bugprone-reserved-identifier): the linker's
[[noreturn]] void __wrap__exit(int code); // NOLINT(bugprone-reserved-identifier)
}

void __wrap__exit(int code) { // NOLINT(bugprone-reserved-identifier)
    __gcov_dump();
    __real__exit(code);
}
