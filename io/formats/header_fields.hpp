// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace runner {

/// The fields of a binary header at their bytes.
class HeaderFields {
  public:
    enum class Order { of_machine, other };

    /// `head` outlives this.
    explicit HeaderFields(std::span<const std::byte> head, Order order = Order::of_machine)
        : head_(head), order_(order) {}

    Order order() const { return order_; }

    template <class T> T at(std::int64_t byte) const {
        std::array<std::byte, sizeof(T)> bytes{};
        std::copy_n(head_.begin() + byte, sizeof(T), bytes.begin());
        if (order_ == Order::other) {
            swap_bytes(bytes.data(), 1, std::int64_t{sizeof(T)});
        }
        T value{};
        std::memcpy(&value, bytes.data(), sizeof(T));
        return value;
    }

    std::string_view text(std::int64_t byte, std::size_t length) const {
        return {reinterpret_cast<const char*>(head_.data()) + byte, length};
    }

  private:
    std::span<const std::byte> head_;
    Order order_;
};

/// A binary header of so many bytes, little-endian, all 0 but for what is put there.
template <std::size_t bytes> class HeaderMaker {
  public:
    template <class T> void put(std::int64_t byte, T value) {
        std::memcpy(head_.data() + byte, &value, sizeof(T));
    }

    void put_text(std::int64_t byte, std::string_view text) {
        std::memcpy(head_.data() + byte, text.data(), text.size());
    }

    std::span<const std::byte> made() const { return head_; }

  private:
    std::array<std::byte, bytes> head_{};
};

} // namespace runner
