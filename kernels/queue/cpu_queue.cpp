// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/cpu_queue.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <cstring>

#include <oneapi/tbb/parallel_for.h>
#include <sys/mman.h>

namespace runner {
namespace {

void unmap(std::byte* data, std::int64_t size, int /*device*/) {
    ::munmap(data, static_cast<std::size_t>(size));
}

Buffer map_pages(std::int64_t bytes) {
    const std::int64_t size = std::max<std::int64_t>(bytes, 1);
    void* data = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        throw out_of_host_memory(size_text(size));
    }
    if (size >= 2 * MiB) {
        // Only a hint: fewer page faults; a kernel without huge pages refuses and nothing is lost.
        (void)::madvise(data, static_cast<std::size_t>(size), MADV_HUGEPAGE);
    }
    return {static_cast<std::byte*>(data), size, 0, unmap};
}

} // namespace

Buffer allocate_staging(CpuQueue& /*queue*/, std::int64_t bytes) { return map_pages(bytes); }

Buffer allocate_device(CpuQueue& /*queue*/, std::int64_t bytes) { return map_pages(bytes); }

void copy_on_device(CpuQueue& queue, std::byte* to, const std::byte* from, std::int64_t bytes) {
    constexpr std::int64_t block = MiB;
    queue.run([&] {
        tbb::parallel_for(std::int64_t{0}, (bytes + block - 1) / block, [&](std::int64_t i) {
            const std::int64_t begin = i * block;
            std::memcpy(to + begin, from + begin,
                        static_cast<std::size_t>(std::min(block, bytes - begin)));
        });
    });
}

void upload(CpuQueue& queue, std::byte* device, const std::byte* host, std::int64_t bytes) {
    if (device != host) {
        copy_on_device(queue, device, host, bytes);
    }
}

void download(CpuQueue& queue, std::byte* host, const std::byte* device, std::int64_t bytes) {
    if (device != host) {
        copy_on_device(queue, host, device, bytes);
    }
}

} // namespace runner
