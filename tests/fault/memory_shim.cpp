// SPDX-License-Identifier: BSD-3-Clause
// For LD_PRELOAD: memory that runs out where the environment says so (rules.hpp): all of the C
// library's calls that give memory, and so C++'s new, are the function malloc. Apart from the other
// shim, since the sanitizers have their own of these.
#include "tests/fault/rules.hpp"

#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>

// glibc's own names.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {
void* __libc_malloc(size_t bytes) noexcept;
void* __libc_calloc(size_t count, size_t bytes) noexcept;
void* __libc_realloc(void* old, size_t bytes) noexcept;
void* __libc_memalign(size_t alignment, size_t bytes) noexcept;
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace {

bool fails(size_t bytes, const void* caller) {
    Dl_info info{};
    const bool known = ::dladdr(caller, &info) != 0;
    const fault::Rule* rule = fault::pick("malloc", known ? info.dli_fname : "", -1, bytes);
    if (rule == nullptr || rule->action != fault::Action::fail) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

} // namespace

extern "C" {

void* malloc(size_t bytes) noexcept {
    return fails(bytes, __builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) noexcept {
    return fails(count * bytes, __builtin_return_address(0)) ? nullptr
                                                             : __libc_calloc(count, bytes);
}

void* realloc(void* old, size_t bytes) noexcept {
    return fails(bytes, __builtin_return_address(0)) ? nullptr : __libc_realloc(old, bytes);
}

void* memalign(size_t alignment, size_t bytes) noexcept {
    return fails(bytes, __builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
    return fails(bytes, __builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** to, size_t alignment, size_t bytes) noexcept {
    void* const memory =
        fails(bytes, __builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
    if (memory == nullptr) {
        return ENOMEM;
    }
    *to = memory;
    return 0;
}
}
