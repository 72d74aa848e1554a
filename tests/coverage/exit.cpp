// SPDX-License-Identifier: BSD-3-Clause
// In a build for coverage: processes that end by _exit() record what ran as well. The linker sends
// their calls here (--wrap=_exit).
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): gcov's and the linker's
extern "C" {
void __gcov_dump();
[[noreturn]] void __real__exit(int code);
[[noreturn]] void __wrap__exit(int code);
}

void __wrap__exit(int code) {
    __gcov_dump();
    __real__exit(code);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
