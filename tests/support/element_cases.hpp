// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "tests/support/element_bytes.hpp"
#include "tests/support/queues.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace runner {

/// The same bytes, or both NaN.
template <class T> bool same_element(T a, T b) {
    return (is_nan(a) && is_nan(b)) ||
           std::equal(reinterpret_cast<const std::byte*>(&a),
                      reinterpret_cast<const std::byte*>(&a) + sizeof(T),
                      reinterpret_cast<const std::byte*>(&b));
}

/// "" where all elements have the same bytes or are NaN on both sides; else the first that differs.
template <class T>
std::string first_difference(const std::vector<T>& expected, const std::vector<T>& got) {
    if (expected.size() != got.size()) {
        return std::to_string(got.size()) + " elements, not " + std::to_string(expected.size());
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!same_element(expected[i], got[i])) {
            return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
                   std::to_string(expected[i]);
        }
    }
    return "";
}

/// Elements over the whole range of an integer type; floats of all sizes, some of them special.
template <class T> std::vector<T> any_elements(std::size_t count, std::mt19937_64& random) {
    std::vector<T> values(count);
    for (T& value : values) {
        if constexpr (std::is_integral_v<T>) {
            value = static_cast<T>(random());
        } else {
            using Limits = std::numeric_limits<T>;
            const std::array<T, 8> special = {T{0},
                                              T{-0.0},
                                              Limits::infinity(),
                                              -Limits::infinity(),
                                              Limits::quiet_NaN(),
                                              -Limits::quiet_NaN(),
                                              Limits::denorm_min(),
                                              Limits::max()};
            value = static_cast<T>(std::normal_distribution<double>(50, 300)(random));
            value = random() % 16 == 0 ? special[random() % special.size()] : value;
        }
    }
    return values;
}

/// What `work(in, out)` makes of `in`, both at `offset` bytes into device memory. The output is
/// poisoned before; nothing may be written beside it, and the input must not change.
template <class Q, class Work>
std::vector<std::byte> made_on(Q& queue, const std::vector<std::byte>& in, std::size_t out_bytes,
                               const Work& work, std::size_t offset = 0) {
    constexpr std::size_t guard = 256;
    constexpr std::byte poison{0xA5};
    std::vector<std::byte> padded(offset, poison);
    padded.insert(padded.end(), in.begin(), in.end());
    const DeviceBytes<Q> from(queue, padded);
    const DeviceBytes<Q> to(queue, std::vector<std::byte>(offset + out_bytes + guard, poison));
    work(from.data() + offset, to.data() + offset);
    const std::vector<std::byte> all = to.fetch();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(out_bytes);
    const auto poisoned = [&](std::byte b) { return b == poison; };
    EXPECT_TRUE(std::all_of(all.begin(), begin, poisoned)) << "written before the output";
    EXPECT_TRUE(std::all_of(end, all.end(), poisoned)) << "written past the output's end";
    EXPECT_EQ(from.fetch(), padded) << "the input was changed";
    return {begin, end};
}

} // namespace runner
