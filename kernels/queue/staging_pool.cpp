// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/staging_pool.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace runner {

Buffer StagingPool::take(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [bytes](const Buffer& buffer) {
        return buffer.size() == bytes;
    });
    if (found == kept_.end()) {
        return {};
    }
    Buffer buffer = std::move(*found);
    kept_.erase(found);
    bytes_ -= bytes;
    return buffer;
}

void StagingPool::keep(Buffer buffer) noexcept {
    const std::lock_guard lock(mutex_);
    try {
        const std::int64_t bytes = buffer.size();
        kept_.push_back(std::move(buffer));
        bytes_ += bytes;
    } catch (const std::bad_alloc&) {
        return; // then it is given back
    }
    while (bytes_ > most_bytes_) {
        bytes_ -= kept_.front().size();
        kept_.pop_front();
    }
}

void StagingPool::clear() noexcept {
    const std::lock_guard lock(mutex_);
    kept_.clear();
    bytes_ = 0;
}

std::int64_t StagingPool::kept_bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

} // namespace runner
