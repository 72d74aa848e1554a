// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/cpu_queue.hpp"

#include "base/pages.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <cstring>

#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

void unmap(std::byte* data, std::int64_t size, int /*device*/) { unmap_pages(data, size); }

Buffer pages(std::int64_t bytes) {
    const std::int64_t size = std::max<std::int64_t>(bytes, 1);
    return {map_pages(size), size, 0, unmap};
}

} // namespace

Buffer allocate_staging(CpuQueue& /*queue*/, std::int64_t bytes) { return pages(bytes); }

Buffer allocate_device(CpuQueue& /*queue*/, std::int64_t bytes) { return pages(bytes); }

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
