// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace runner {

/// Anonymous memory of zeros, `bytes` ≥ 1; huge pages where the kernel has them.
/// @throws Error (launch) without memory.
std::byte* map_pages(std::int64_t bytes);
void unmap_pages(std::byte* data, std::int64_t bytes) noexcept;

/// Memory for much that is written once and read a few times: huge pages, where the kernel has
/// them, since the first write to each of many small ones takes time.
class Pages {
  public:
    /// `bytes` ≥ 0, which are zero. @throws Error (launch) without memory.
    explicit Pages(std::int64_t bytes);

    std::byte* data() const { return bytes_.get(); }

  private:
    struct Unmap {
        std::int64_t bytes;
        void operator()(std::byte* data) const noexcept;
    };

    std::unique_ptr<std::byte, Unmap> bytes_;
};

} // namespace runner
