// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace runner {

/// Owns uninitialised bytes of one kind of memory (host, page-locked host, device).
/// Move-only, never resized; made by the allocate functions of a queue.
class Buffer {
  public:
    /// Gives the bytes back; must not throw.
    using Release = std::function<void(std::byte* data, std::int64_t size, int device)>;

    Buffer() = default;
    /// Takes ownership of `data`; `device` is handed to `release` as it is.
    Buffer(std::byte* data, std::int64_t size, int device, Release release)
        : data_(data, {size, device, std::move(release)}) {}

    std::byte* data() const noexcept { return data_.get(); }
    /// Gives the ownership of data() up.
    std::byte* release() noexcept { return data_.release(); }
    std::int64_t size() const noexcept { return data_ ? data_.get_deleter().size : 0; }

  private:
    struct Deleter {
        std::int64_t size;
        int device;
        Release release;
        void operator()(std::byte* data) const noexcept { release(data, size, device); }
    };
    std::unique_ptr<std::byte, Deleter> data_{nullptr, Deleter{0, 0, nullptr}};
};

} // namespace runner
