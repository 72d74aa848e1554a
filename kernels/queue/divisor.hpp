// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace runner {

/// Divides numbers below 2^31 by a number that is the same for all threads of a kernel, without a
/// division: (high half of factor · n + n) >> shift.
struct Divisor {
    std::uint32_t value = 1;
    std::uint32_t factor = 1;
    std::uint32_t shift = 0;
};

/// `value` in 1 … 2^31 − 1.
constexpr Divisor make_divisor(std::uint32_t value) {
    std::uint32_t shift = 0;
    while ((std::uint64_t{1} << shift) < value) {
        ++shift;
    }
    const std::uint64_t power = std::uint64_t{1} << shift;
    const auto factor = static_cast<std::uint32_t>(((power - value) << 32U) / value + 1);
    return {value, factor, shift};
}

#ifdef __CUDACC__
__device__ inline std::uint32_t quotient(std::uint32_t n, const Divisor& by) {
    return (__umulhi(by.factor, n) + n) >> by.shift;
}

/// n = quotient · by + rest.
struct Divided {
    std::uint32_t quotient;
    std::uint32_t rest;
};

__device__ inline Divided divide(std::uint32_t n, const Divisor& by) {
    const std::uint32_t q = quotient(n, by);
    return {q, n - q * by.value};
}
#endif

} // namespace runner
