// SPDX-License-Identifier: BSD-3-Clause
#include "base/pages.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"

#include <algorithm>

#include <sys/mman.h>

namespace runner {
namespace {

std::byte* map_pages(std::size_t bytes) {
    void* const data =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        throw out_of_host_memory(size_text(static_cast<std::int64_t>(bytes)));
    }
    (void)::madvise(data, bytes, MADV_HUGEPAGE); // a hint, which some kernels do not know
    return static_cast<std::byte*>(data);
}

std::size_t mapped_size(std::int64_t bytes) {
    return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
}

} // namespace

Pages::Pages(std::int64_t bytes)
    : bytes_(map_pages(mapped_size(bytes)), Unmap{mapped_size(bytes)}) {}

void Pages::Unmap::operator()(std::byte* data) const noexcept { ::munmap(data, bytes); }

} // namespace runner
