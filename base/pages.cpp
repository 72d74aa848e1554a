// SPDX-License-Identifier: BSD-3-Clause
#include "base/pages.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"

#include <algorithm>

#include <sys/mman.h>

namespace runner {

std::byte* map_pages(std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    void* const data =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        throw out_of_host_memory(size_text(bytes));
    }
    if (bytes >= 2 * MiB) {
        // Only a hint: fewer page faults; a kernel without huge pages refuses and nothing is lost.
        (void)::madvise(data, size, MADV_HUGEPAGE);
    }
    return static_cast<std::byte*>(data);
}

void unmap_pages(std::byte* data, std::int64_t bytes) noexcept {
    ::munmap(data, static_cast<std::size_t>(bytes));
}

Pages::Pages(std::int64_t bytes)
    : bytes_(map_pages(std::max<std::int64_t>(bytes, 1)), Unmap{std::max<std::int64_t>(bytes, 1)}) {
}

void Pages::Unmap::operator()(std::byte* data) const noexcept { unmap_pages(data, bytes); }

} // namespace runner
