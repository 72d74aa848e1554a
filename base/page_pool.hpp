// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/pages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace runner {

/// Buffers of one size, of which each is made when none that was given back is left.
class PagePool {
  public:
    /// At most `memory` bytes in all; `bytes_each` ≥ 1.
    PagePool(std::int64_t memory, std::int64_t bytes_each)
        : bytes_each_(bytes_each), most_(memory / bytes_each) {}

    /// The number of a buffer that nobody has; nothing where there is none.
    std::optional<std::size_t> take() {
        if (free_.empty() && std::ssize(buffers_) < most_) {
            free_.push_back(buffers_.size());
            buffers_.emplace_back(bytes_each_);
        }
        if (free_.empty()) {
            return std::nullopt;
        }
        const std::size_t buffer = free_.back();
        free_.pop_back();
        return buffer;
    }

    void give_back(std::size_t buffer) { free_.push_back(buffer); }

    std::byte* data(std::size_t buffer) const { return buffers_[buffer].data(); }

    /// Frees all, also those that somebody has.
    void clear() {
        free_.clear();
        buffers_.clear();
    }

  private:
    std::int64_t bytes_each_;
    std::int64_t most_;
    std::deque<Pages> buffers_;
    std::vector<std::size_t> free_;
};

} // namespace runner
